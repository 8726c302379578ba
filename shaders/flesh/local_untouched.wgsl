// Without contacts.
fn add_contacts(group: u32, instance: u32, thread: u32) {}
