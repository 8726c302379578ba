// The contact energy at the accelerated iterate, by the last workgroup: it has the fewest chains.
@group(0) @binding(17) var<uniform> press_dims: ContactKernelDims;
@group(0) @binding(18) var<storage, read> contacts: array<KernelContact>;

fn add_contacts(group: u32, instance: u32, thread: u32) {
    if group + 1u < chain_groups() {
        return;
    }
    let first = instance * press_dims.contact_stride;
    let count = min(contacts[first].count, MOST);
    var energy = 0.0;
    for (var k = thread; k < count; k += TETS) {
        let contact = contacts[first + k];
        var apart = vec3f();
        for (var corner = 0u; corner < 4u; corner++) {
            apart += contact.weights[corner] * mixed_place(instance, contact.rows[corner]);
        }
        energy += contact_energy(contact, apart);
    }
    add_energies(thread, energy, energies_at(turn.iteration & 1u, instance) + energy_count() - 1u);
}
