//! What the user is told: one sentence each, kept until dismissed, or, if they are about files, until others are opened.

use std::fmt;

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something was done.
    Info,
    /// Something was done differently than asked.
    Warning,
    /// Something could not be done; nothing was lost.
    Error,
}

/// Identifies a message for [`super::Command::DismissMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId(u64);

/// One sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its identity.
    pub id: MessageId,
    /// How much it matters.
    pub level: Level,
    /// The sentence.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Messages in the order they came; the oldest go when there are too many.
#[derive(Debug, Default)]
pub(super) struct Messages {
    list: Vec<Message>,
    next: u64,
    /// Those that are not about the files that are open.
    lasting: Vec<MessageId>,
}

/// More than a person would read.
const MAX_MESSAGES: usize = 50;

impl Messages {
    /// Adds a sentence; one that is on the list already is not repeated.
    pub(super) fn push(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        if self.list.iter().any(|m| m.level == level && m.text == text) {
            return;
        }
        if self.list.len() >= MAX_MESSAGES {
            self.list.remove(0);
        }
        self.list.push(Message {
            id: MessageId(self.next),
            level,
            text,
        });
        self.next += 1;
    }

    /// Adds a sentence that opening other files does not make void.
    pub(super) fn push_lasting(&mut self, level: Level, text: impl Into<String>) {
        let id = MessageId(self.next);
        self.push(level, text);
        // Not if it had been said already.
        if self.next > id.0 {
            self.lasting.push(id);
        }
    }

    pub(super) fn dismiss(&mut self, id: MessageId) {
        self.list.retain(|message| message.id != id);
    }

    /// Forgets what was said of former files.
    pub(super) fn clear(&mut self) {
        let lasting = &self.lasting;
        self.list.retain(|message| lasting.contains(&message.id));
    }

    pub(super) fn list(&self) -> &[Message] {
        &self.list
    }
}
