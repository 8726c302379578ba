//! The words of a BVH file, with their lines.

use std::iter::Peekable;

use super::LARGEST;
use crate::io::error::{Parsed, bad};
use crate::math::Vec64;

/// Tokens with their line numbers; braces are tokens.
pub(super) struct Tokens<'a, I: Iterator<Item = (usize, &'a str)>> {
    pub(super) words: Peekable<I>,
    pub(super) line: usize,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Tokens<'a, I> {
    pub(super) fn next(&mut self, expected: &str) -> Parsed<&'a str> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok(word)
            }
            None => bad(format!(
                "ends after line {} where {expected} is expected",
                self.line
            )),
        }
    }

    pub(super) fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().map(|(_, word)| *word)
    }

    pub(super) fn number(&mut self, what: &str) -> Parsed<f64> {
        let word = self.next(what)?;
        match word.parse::<f64>() {
            Ok(value) if value.abs() < LARGEST => Ok(value),
            _ => bad(format!(
                "line {}: {what} must be a finite number, not \"{word}\"",
                self.line
            )),
        }
    }

    pub(super) fn vector(&mut self, what: &str) -> Parsed<Vec64> {
        Ok(Vec64::new(
            self.number(what)?,
            self.number(what)?,
            self.number(what)?,
        ))
    }

    pub(super) fn brace(&mut self, brace: &str) -> Parsed<()> {
        let word = self.next(&format!("\"{brace}\""))?;
        if word == brace {
            Ok(())
        } else {
            bad(format!(
                "line {}: \"{brace}\" is expected, not \"{word}\"",
                self.line
            ))
        }
    }

    /// The rest of the current line, up to a brace: names may contain spaces.
    pub(super) fn rest_of_line(&mut self) -> String {
        let mut name = String::new();
        while let Some(&(line, word)) = self.words.peek() {
            if line != self.line || word == "{" || word == "}" {
                break;
            }
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
            self.words.next();
        }
        name
    }
}

pub(super) fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        let chunks = line
            .split_whitespace()
            .flat_map(|word| word.split_inclusive(['{', '}']));
        let parted = chunks.flat_map(|chunk| {
            let body = chunk.trim_end_matches(['{', '}']);
            [body, &chunk[body.len()..]]
        });
        parted
            .filter(|word| !word.is_empty())
            .map(move |word| (number + 1, word))
    })
}
