//! Messages to the user: one sentence each, kept until dismissed. Messages about files are also removed when other files are opened.

use std::fmt;

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something was completed.
    Info,
    /// Something was done differently than requested.
    Warning,
    /// Something failed; no data was lost.
    Error,
}

/// Identifies a message for [`super::Command::DismissMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId(u64);

/// One sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its identifier.
    pub id: MessageId,
    /// Its severity.
    pub level: Level,
    /// The text.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Messages, oldest first; the oldest are dropped when there are too many.
#[derive(Debug, Default)]
pub(super) struct Messages {
    list: Vec<Message>,
    next: u64,
    /// Identifiers of messages that do not concern the open files.
    lasting: Vec<MessageId>,
}

/// Largest number of messages.
const MAX_MESSAGES: usize = 50;

impl Messages {
    /// Adds a message, unless the same text is in the list.
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

    /// Adds a message that stays when other files are opened.
    pub(super) fn push_lasting(&mut self, level: Level, text: impl Into<String>) {
        let id = MessageId(self.next);
        self.push(level, text);
        // Unless it was in the list already.
        if self.next > id.0 {
            self.lasting.push(id);
        }
    }

    pub(super) fn dismiss(&mut self, id: MessageId) {
        self.list.retain(|message| message.id != id);
    }

    /// Removes messages about previous files.
    pub(super) fn clear(&mut self) {
        let lasting = &self.lasting;
        self.list.retain(|message| lasting.contains(&message.id));
    }

    pub(super) fn list(&self) -> &[Message] {
        &self.list
    }
}
