//! Fuzzy matching of text and query.

/// Score of `text` for `query`, every word separately; `None` if it does not match. Higher is
/// better; case is ignored.
///
/// A word matches if its letters occur in order; matches at the start, at starts of words, and of
/// adjacent letters score higher. A word of at least four letters without a match may match with
/// one typing error.
#[must_use]
pub fn score(query: &str, text: &str) -> Option<i32> {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut sum = 0;
    for word in query.split_whitespace() {
        let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        sum += word_score(&word, &text).or_else(|| typo_score(&word, &text))?;
    }
    // Of two equal matches the shorter text scores higher.
    Some(sum * 16 - i32::try_from(text.len().min(200)).unwrap_or(200) / 4)
}

const LETTER: i32 = 4;
const NEXT_TO: i32 = 6;
const WORD_START: i32 = 7;
const START: i32 = 3;
const SLIP: i32 = 2;

/// The best match of the letters in order. `best[j]` is the score of a match whose last letter is
/// at `text[j]`.
fn word_score(word: &[char], text: &[char]) -> Option<i32> {
    let (&first, rest) = word.split_first()?;
    let starts_word = |at: usize| at == 0 || !text[at - 1].is_alphanumeric();
    let bonus = |at: usize| {
        LETTER + if starts_word(at) { WORD_START } else { 0 } + if at == 0 { START } else { 0 }
    };
    let mut best: Vec<Option<i32>> = text
        .iter()
        .enumerate()
        .map(|(at, &c)| (c == first).then(|| bonus(at)))
        .collect();
    for &letter in rest {
        let mut reached: Option<i32> = None;
        let before = best.clone();
        for (at, &c) in text.iter().enumerate() {
            let beside = at
                .checked_sub(1)
                .and_then(|at| before[at])
                .map(|score| score + NEXT_TO);
            best[at] = (c == letter)
                .then(|| beside.max(reached))
                .flatten()
                .map(|score| score + bonus(at));
            // Gaps reduce the score.
            reached = reached
                .map(|score| score - 1)
                .max(before[at].map(|score| score - 1));
        }
    }
    best.into_iter()
        .flatten()
        .max()
        .filter(|&score| score / LETTER >= i32::try_from(word.len()).unwrap_or(i32::MAX))
}

/// Whether a word of the text differs from this one by a single typing error.
fn typo_score(word: &[char], text: &[char]) -> Option<i32> {
    if word.len() < 4 {
        return None;
    }
    let word: String = word.iter().collect();
    let allowed = word.chars().count() / 4;
    let text: String = text.iter().collect();
    let close = |other: &str| {
        // Compared with the beginning of a longer word, because queries are often incomplete.
        let start: String = other.chars().take(word.chars().count()).collect();
        strsim::damerau_levenshtein(&word, other).min(strsim::damerau_levenshtein(&word, &start))
            <= allowed
    };
    text.split(|c: char| !c.is_alphanumeric())
        .any(close)
        .then_some(SLIP)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn the_better_match_has_the_higher_score() {
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
    fn text_without_a_match_is_not_listed() {
        assert_eq!(score("xyz", "Undo"), None);
        assert_eq!(score("odnu", "Redo"), None);
        assert!(score("", "Undo").is_some());
        assert!(score("ÄRGER", "ärger").is_some());
    }
}
