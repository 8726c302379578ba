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
