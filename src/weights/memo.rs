//! Intermediate results that weight methods share.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// How many results are kept.
const KEPT: usize = 4;

type Entry = (u32, Arc<dyn Any + Send + Sync>);

/// The last intermediate results of one skin and one skeleton, such as the voxel domain: what other parameters leave as it was is not
/// computed again. Results are told apart by their type and a number, such as the resolution.
#[derive(Debug, Default)]
pub struct Memo {
    /// The latest last.
    entries: Mutex<Vec<Entry>>,
}

impl Memo {
    /// The result with that number, made now if it is not there. Two threads that ask at once may both make it.
    ///
    /// # Errors
    /// Those of `make`; nothing is kept then.
    pub fn get_or_make<T: Any + Send + Sync, E>(
        &self,
        number: u32,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(known) = self.get(number) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= KEPT {
            entries.remove(0);
        }
        entries.push((number, made.clone()));
        Ok(made)
    }

    /// The result with that number, if it is there.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self, number: u32) -> Option<Arc<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |(own, made): &Entry| *own == number && made.is::<T>();
        let place = entries.iter().position(is_wanted)?;
        let entry = entries.remove(place);
        entries.push(entry.clone());
        entry.1.downcast().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_made_once_and_the_oldest_are_forgotten() {
        let memo = Memo::default();
        let text = |number: u32| {
            memo.get_or_make(number, || Ok::<_, ()>(format!("made for {number}")))
                .expect("is made")
        };
        let first = text(1);
        assert!(Arc::ptr_eq(&first, &text(1)));
        assert_eq!(memo.get::<u64>(1), None, "another type is another result");
        assert!(memo.get_or_make(2, || Err::<u64, _>("fails")).is_err());
        assert_eq!(memo.get::<u64>(2), None);
        for number in 2..=4 {
            text(number);
        }
        // The first is the latest again.
        text(1);
        text(5);
        assert!(memo.get::<String>(2).is_none() && memo.get::<String>(3).is_some());
        assert!(Arc::ptr_eq(&first, &text(1)));
    }
}
