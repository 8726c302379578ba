//! How well something fits what was typed.

/// How well `text` fits `query`, every word of it by itself; nothing if it doesn't. More is better, and case does not matter.
///
/// A word fits where its letters stand in this order; best at the start, at starts of words, and side by side. A word of four letters and
/// more that fits nowhere may still be a slip of the fingers.
#[must_use]
pub fn score(query: &str, text: &str) -> Option<i32> {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut sum = 0;
    for word in query.split_whitespace() {
        let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        sum += word_score(&word, &text).or_else(|| slip_score(&word, &text))?;
    }
    // Of two that fit equally, the shorter one is meant.
    Some(sum * 16 - (text.len().min(200) as i32) / 4)
}

const LETTER: i32 = 4;
const NEXT_TO: i32 = 6;
const WORD_START: i32 = 7;
const START: i32 = 3;
const SLIP: i32 = 2;

/// The best way to find the letters in this order. `best[j]` is the score of a way whose last letter is at `text[j]`.
fn word_score(word: &[char], text: &[char]) -> Option<i32> {
    let (&first, rest) = word.split_first()?;
    let starts_word = |at: usize| at == 0 || !text[at - 1].is_alphanumeric();
    let bonus = |at: usize| LETTER + if starts_word(at) { WORD_START } else { 0 } + if at == 0 { START } else { 0 };
    let mut best: Vec<Option<i32>> = text.iter().enumerate().map(|(at, &c)| (c == first).then(|| bonus(at))).collect();
    for &letter in rest {
        let mut reached: Option<i32> = None;
        let before = best.clone();
        for (at, &c) in text.iter().enumerate() {
            let beside = at.checked_sub(1).and_then(|at| before[at]).map(|score| score + NEXT_TO);
            best[at] = (c == letter).then(|| beside.max(reached)).flatten().map(|score| score + bonus(at));
            // A gap costs a little, and more gaps cost more.
            reached = reached.map(|score| score - 1).max(before[at].map(|score| score - 1));
        }
    }
    best.into_iter().flatten().max().filter(|&score| score >= LETTER * word.len() as i32)
}

/// Whether some word of the text differs from this one by a slip of the fingers.
fn slip_score(word: &[char], text: &[char]) -> Option<i32> {
    if word.len() < 4 {
        return None;
    }
    let word: String = word.iter().collect();
    let allowed = word.chars().count() / 4;
    let text: String = text.iter().collect();
    let close = |other: &str| {
        // The beginning of a longer word is compared, because people stop typing early.
        let start: String = other.chars().take(word.chars().count()).collect();
        strsim::damerau_levenshtein(&word, other).min(strsim::damerau_levenshtein(&word, &start)) <= allowed
    };
    text.split(|c: char| !c.is_alphanumeric()).any(close).then_some(SLIP)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn the_better_fit_wins() {
        for (query, better, worse) in [
            ("undo", "Undo", "Redo pose until now"),
            ("rp", "Reset pose", "Larger interface"),
            ("hand", "hand.L", "shoulder and elbow"),
            ("hand l", "hand.L", "hand.R"),
            ("theme", "Theme: light", "The same method"),
            ("hnad", "hand.L", "foot.L"),
        ] {
            let (a, b) = (score(query, better), score(query, worse));
            assert!(a > b, "{query}: {better} {a:?}, {worse} {b:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_listed() {
        assert_eq!(score("xyz", "Undo"), None);
        assert_eq!(score("odnu", "Redo"), None);
        assert!(score("", "Undo").is_some());
        assert!(score("ÄRGER", "ärger").is_some());
    }
}
