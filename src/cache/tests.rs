use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;
use crate::test_folder::TestFolder;

fn files(folder: &TestFolder) -> Vec<PathBuf> {
    fs::read_dir(&folder.0)
        .map(|listing| listing.flatten().map(|item| item.path()).collect())
        .unwrap_or_default()
}

fn key(number: u32) -> CacheKey {
    CacheKey::of("test", 1, &number).expect("a number can be written")
}

#[test]
fn stored_data_is_returned() {
    let place = TestFolder::absent("cache");
    let cache = Cache::in_folder(&place.0);
    assert!(cache.get(&key(1)).is_none());
    cache
        .put(&key(1), &[b"one", b"two"])
        .expect("a folder to write to");
    // Another process uses the same folder.
    let again = Cache::in_folder(&place.0).get(&key(1)).expect("kept");
    assert_eq!(
        (again.get(0), again.get(1)),
        (Some(&b"one"[..]), Some(&b"two"[..]))
    );
    assert!(cache.get(&key(2)).is_none());
    assert!(Cache::none().put(&key(1), &[b"one"]).is_ok() && Cache::none().get(&key(1)).is_none());
}

#[test]
fn a_damaged_entry_is_recomputed() {
    let place = TestFolder::absent("cache");
    let cache = Cache::in_folder(&place.0);
    let made = Cell::new(0);
    let numbers: Vec<f64> = (0..1000).map(|k| f64::from(k).sqrt()).collect();
    let derive = || -> Result<Vec<f64>, ()> {
        cache.derive(
            || Some(key(3)),
            |known: &Vec<f64>| known.len() == 1000,
            || {
                made.set(made.get() + 1);
                Ok(numbers.clone())
            },
        )
    };
    assert_eq!(derive().as_ref(), Ok(&numbers));
    assert_eq!(derive().as_ref(), Ok(&numbers));
    assert_eq!(made.get(), 1);
    let [file] = &files(&place)[..] else {
        panic!("one entry")
    };
    let whole = fs::read(file).expect("readable");
    for round in 0..40_usize {
        let mut bytes = whole.clone();
        if round % 4 == 0 {
            bytes.truncate(round * whole.len() / 40);
        } else {
            bytes[round * 7919 % whole.len()] ^= 1 << (round % 8);
        }
        fs::write(file, bytes).expect("writable");
        assert_eq!(derive().as_ref(), Ok(&numbers));
        assert_eq!(made.get(), round + 2);
        assert_eq!(fs::read(file).expect("readable"), whole);
    }
}

#[test]
fn unsuitable_or_foreign_data_is_recomputed() {
    let place = TestFolder::absent("cache");
    let cache = Cache::in_folder(&place.0);
    let made: Result<Vec<u32>, ()> = cache.derive(|| Some(key(1)), |_| true, || Ok(vec![1, 2, 3]));
    assert!(made.is_ok());
    let made: Result<Vec<u32>, ()> = cache.derive(
        || Some(key(1)),
        |known: &Vec<u32>| known.len() == 4,
        || Ok(vec![4; 4]),
    );
    assert_eq!(made, Ok(vec![4; 4]));
    let made: Result<String, ()> = cache.derive(
        || Some(key(1)),
        |_| true,
        || Ok("text, longer than what is kept".to_owned()),
    );
    assert_eq!(made, Ok("text, longer than what is kept".to_owned()));
}

#[test]
fn errors_are_not_cached() {
    let place = TestFolder::absent("cache");
    let cache = Cache::in_folder(&place.0);
    let made: Result<u32, &str> = cache.derive(|| Some(key(1)), |_| true, || Err("cancelled"));
    assert_eq!(made, Err("cancelled"));
    assert!(files(&place).is_empty());
}

#[test]
fn the_least_recently_used_entries_are_evicted_and_nothing_else() {
    let place = TestFolder::absent("cache");
    let cache = Cache::with_limit(&place.0, 10_000);
    let content = vec![1_u8; 1900];
    fs::create_dir_all(&place.0).expect("a folder");
    let foreign = [place.0.join("notes.txt"), place.0.join("abc.sinewkept")];
    for path in &foreign {
        fs::write(path, vec![0; 20_000]).expect("writable");
    }
    for number in 0..5 {
        cache
            .put(&key(number), &[&content])
            .expect("a folder to write to");
        // File times may be coarse.
        let age = Duration::from_secs(1000 - 10 * u64::from(number));
        let file = fs::File::options()
            .append(true)
            .open(place.0.join(format!("{}.sinewkept", key(number))))
            .expect("there");
        file.set_modified(SystemTime::now() - age)
            .expect("may be set");
    }
    assert_eq!(files(&place).len(), 5 + 2);
    // The first is used again, so that the second and the third are the oldest.
    assert!(cache.get(&key(0)).is_some());
    cache
        .put(&key(5), &[&content])
        .expect("a folder to write to");
    let there: Vec<bool> = (0..6)
        .map(|number| cache.get(&key(number)).is_some())
        .collect();
    assert_eq!(there, [true, false, false, true, true, true]);
    assert!(foreign.iter().all(|path| path.exists()));
    // An entry larger than the limit is not stored, and evicts nothing.
    assert!(cache.put(&key(6), &[&vec![0; 20_000]]).is_err());
    assert!(cache.get(&key(5)).is_some());
}

#[test]
fn concurrent_reads_and_writes_are_safe() {
    let place = TestFolder::absent("cache");
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let cache = Cache::with_limit(&place.0, 200_000);
            scope.spawn(move || {
                for round in 0..50_u32 {
                    let content = vec![writer; 20_000 + round as usize];
                    // All write the same few entries, and the limit evicts some.
                    let _ = cache.put(&key(round % 15), &[&content, &[writer]]);
                    if let Some(sections) = cache.get(&key((round * 7) % 15)) {
                        let (content, by) = (
                            sections.get(0).expect("two sections"),
                            sections.get(1).expect("two sections"),
                        );
                        assert!(
                            content.len() >= 20_000 && content.iter().all(|byte| *byte == by[0]),
                            "torn"
                        );
                    }
                }
            });
        }
    });
    assert!(
        files(&place)
            .iter()
            .all(|file| file.extension().is_some_and(|ending| ending == "sinewkept"))
    );
}

#[test]
fn an_unusable_folder_disables_the_cache() {
    let place = TestFolder::absent("cache");
    fs::write(&place.0, b"a file").expect("writable");
    let cache = Cache::in_folder(place.0.join("below"));
    assert!(cache.put(&key(1), &[b"x"]).is_err());
    assert!(cache.get(&key(1)).is_none());
    let made: Result<u32, ()> = cache.derive(|| Some(key(1)), |_| true, || Ok(7));
    assert_eq!(made, Ok(7));
    let _ = fs::remove_file(&place.0);
}

/// Reading needs no write permission, and a folder in the place of an entry is tolerated.
#[test]
fn a_folder_in_place_of_an_entry_is_ignored() {
    let place = TestFolder::absent("cache");
    fs::create_dir_all(place.0.join(format!("{}.sinewkept", key(1)))).expect("a folder");
    let cache = Cache::in_folder(&place.0);
    assert!(cache.get(&key(1)).is_none());
    assert!(cache.put(&key(1), &[b"x"]).is_err());
    assert_eq!(files(&place).len(), 1);
}
