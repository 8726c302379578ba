//! Every assembled shader is valid, and its structs lie as the Rust ones do.

use sinew::gpu::shader;
use wgpu::naga;

fn parse(source: &shader::ShaderSource) -> naga::Module {
    let wgsl = source.wgsl();
    naga::front::wgsl::parse_str(&wgsl).unwrap_or_else(|error| panic!("{}: {}", source.name, error.emit_to_string(&wgsl)))
}

#[test]
fn every_shader_is_valid() {
    for source in shader::ALL {
        let module = parse(source);
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::default());
        if let Err(error) = validator.validate(&module) {
            panic!("{}: {}", source.name, error.emit_to_string(&source.wgsl()));
        }
    }
}

#[test]
fn structs_lie_as_in_the_shaders() {
    let drawn = sinew::render::uniform_layouts().into_iter().map(|layout| (layout.name, layout.size, layout.fields));
    let computed = sinew::gpu::struct_layouts().into_iter().map(|layout| (layout.name, layout.size, layout.fields));
    for (name, size, fields) in drawn.chain(computed) {
        let mut found = 0;
        for source in shader::ALL {
            let module = parse(source);
            for (_, ty) in module.types.iter().filter(|(_, ty)| ty.name.as_deref() == Some(name)) {
                let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct in {}", source.name) };
                let there: Vec<_> = members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect();
                let here: Vec<_> = fields.iter().map(|(field, offset)| ((*field).to_owned(), *offset)).collect();
                assert_eq!(there, here, "struct {name} in {}", source.name);
                assert_eq!(*span as usize, size, "size of struct {name} in {}", source.name);
                found += 1;
            }
        }
        assert!(found > 0, "no shader has a struct {name}");
    }
}

#[test]
fn every_shader_source_is_named_once() {
    let mut names: Vec<_> = shader::ALL.iter().map(|source| source.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), shader::ALL.len());
}

/// What any device that computes has: eight storage buffers, 16 KiB and 256 threads a workgroup.
#[test]
fn compute_passes_fit_any_device() {
    let mut passes = 0;
    for source in shader::ALL {
        let module = parse(source);
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::default());
        let info = validator.validate(&module).expect("valid");
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).expect("has sizes");
        for (index, entry) in module.entry_points.iter().enumerate().filter(|(_, entry)| entry.stage == naga::ShaderStage::Compute) {
            let used = || module.global_variables.iter().filter(|(handle, _)| !info.get_entry_point(index)[*handle].is_empty());
            let buffers = used().filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. })).count();
            let shared = used().filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup);
            let bytes: u32 = shared.map(|(_, variable)| layouter[variable.ty].size.next_multiple_of(16)).sum();
            let threads: u32 = entry.workgroup_size.iter().product();
            assert!(buffers <= 8, "{}: {buffers} storage buffers", entry.name);
            assert!(bytes <= 16 << 10, "{}: {bytes} bytes in a workgroup", entry.name);
            assert!(threads <= 256, "{}: {threads} threads", entry.name);
            passes += 1;
        }
    }
    assert!(passes > 20, "only {passes} passes");
}
