//! Every assembled shader is valid, can be said in the language of every graphics interface, fits any device, and its structs lie as the
//! Rust ones do.

use naga::back::{PipelineConstants, glsl, hlsl, msl, spv};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use sinew::dynamics::MAX_ACCELERATION;
use sinew::gpu::shader;

mod barriers;

fn parse(source: &shader::ShaderSource) -> naga::Module {
    let wgsl = source.wgsl();
    naga::front::wgsl::parse_str(&wgsl)
        .unwrap_or_else(|error| panic!("{}: {}", source.name, error.emit_to_string(&wgsl)))
}

/// With nothing that a device need not have: no halves, no doubles, no subgroups.
fn validated(source: &shader::ShaderSource) -> (naga::Module, ModuleInfo) {
    let module = parse(source);
    let valid = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = valid.unwrap_or_else(|error| {
        panic!("{}: {}", source.name, error.emit_to_string(&source.wgsl()))
    });
    (module, info)
}

/// All values of overrides that the host may give, together.
fn variants(module: &naga::Module) -> Vec<PipelineConstants> {
    let mut variants = vec![PipelineConstants::default()];
    for (_, constant) in module.overrides.iter() {
        let name = constant.name.as_deref().expect("overrides have names");
        let is_flag =
            module.types[constant.ty].inner == naga::TypeInner::Scalar(naga::Scalar::BOOL);
        assert!(
            is_flag || name == "MEMORY",
            "nobody knows the values of {name}"
        );
        let values = if is_flag { 0..=1 } else { 1..=MAX_ACCELERATION };
        let with = |variant: &PipelineConstants, value: u32| {
            let mut variant = variant.clone();
            variant.insert(name.to_owned(), f64::from(value));
            variant
        };
        variants = variants
            .iter()
            .flat_map(|variant| values.clone().map(move |value| with(variant, value)))
            .collect();
    }
    variants
}

/// A module without overrides, of which one entry point is looked at.
struct Entry<'a> {
    module: &'a naga::Module,
    info: &'a ModuleInfo,
    stage: naga::ShaderStage,
    name: &'a str,
}

impl Entry<'_> {
    /// Vulkan, with what wgpu always asks for.
    fn to_spirv(&self) -> Result<(), String> {
        use spv::Capability as C;
        let capabilities = [
            C::Shader,
            C::Matrix,
            C::Sampled1D,
            C::Image1D,
            C::ImageQuery,
            C::DerivativeControl,
            C::StorageImageExtendedFormats,
        ];
        let options = spv::Options {
            capabilities: Some(capabilities.into_iter().collect()),
            ..spv::Options::default()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: self.stage,
            entry_point: self.name.to_owned(),
        };
        spv::write_vec(self.module, self.info, &options, Some(&pipeline))
            .map(|_| ())
            .map_err(|error| format!("SPIR-V: {error}"))
    }

    /// Direct3D 12: 5.1 is what its older compiler takes, which every Windows has.
    fn to_hlsl(&self, shader_model: hlsl::ShaderModel) -> Result<(), String> {
        let first_vertex = hlsl::BindTarget {
            space: 9,
            ..hlsl::BindTarget::default()
        };
        let options = hlsl::Options {
            shader_model,
            special_constants_binding: Some(first_vertex),
            ..hlsl::Options::default()
        };
        let pipeline = hlsl::PipelineOptions {
            entry_point: Some((self.stage, self.name.to_owned())),
        };
        let mut text = String::new();
        let written =
            hlsl::Writer::new(&mut text, &options, &pipeline).write(self.module, self.info, None);
        let names = written
            .map_err(|error| format!("HLSL {shader_model:?}: {error}"))?
            .entry_point_names;
        names.into_iter().try_for_each(|name| {
            name.map(|_| ())
                .map_err(|error| format!("HLSL {shader_model:?}: {error}"))
        })
    }

    /// Metal: 2.1 is that of macOS 10.14, which is the first to have invariant positions.
    fn to_msl(&self, lang_version: (u8, u8)) -> Result<(), String> {
        let options = msl::Options {
            lang_version,
            ..msl::Options::default()
        };
        let pipeline = msl::PipelineOptions {
            entry_point: Some((self.stage, self.name.to_owned())),
            vertex_pulling_transform: true,
            ..Default::default()
        };
        let written = msl::write_string(self.module, self.info, &options, &pipeline);
        let names = written
            .map_err(|error| format!("MSL {lang_version:?}: {error}"))?
            .1
            .entry_point_names;
        names.into_iter().try_for_each(|name| {
            name.map(|_| ())
                .map_err(|error| format!("MSL {lang_version:?}: {error}"))
        })
    }

    /// OpenGL ES 3.1: for pictures only.
    fn to_glsl(&self) -> Result<(), String> {
        let options = glsl::Options {
            version: glsl::Version::new_gles(310),
            ..glsl::Options::default()
        };
        let pipeline = glsl::PipelineOptions {
            shader_stage: self.stage,
            entry_point: self.name.to_owned(),
            multiview: None,
        };
        let mut text = String::new();
        let writer = glsl::Writer::new(
            &mut text,
            self.module,
            self.info,
            &options,
            &pipeline,
            BoundsCheckPolicies::default(),
        );
        writer
            .and_then(|mut writer| writer.write())
            .map(|_| ())
            .map_err(|error| format!("GLSL: {error}"))
    }

    fn to_all(&self) -> Result<(), String> {
        self.to_spirv()?;
        [hlsl::ShaderModel::V5_1, hlsl::ShaderModel::V6_0]
            .into_iter()
            .try_for_each(|model| self.to_hlsl(model))?;
        [(2, 1), (3, 0)]
            .into_iter()
            .try_for_each(|version| self.to_msl(version))?;
        if self.stage == naga::ShaderStage::Compute {
            Ok(())
        } else {
            self.to_glsl()
        }
    }
}

#[test]
fn every_shader_translates_to_all_languages() {
    let mut said = 0;
    for source in shader::ALL {
        let (module, info) = validated(source);
        for entry in &module.entry_points {
            for constants in variants(&module) {
                let chosen = Some((entry.stage, entry.name.as_str()));
                let fixed = naga::back::pipeline_constants::process_overrides(
                    &module, &info, chosen, &constants,
                );
                let (module, info) =
                    fixed.unwrap_or_else(|error| panic!("{} {}: {error}", source.name, entry.name));
                let entry = Entry {
                    module: &module,
                    info: &info,
                    stage: entry.stage,
                    name: &entry.name,
                };
                entry.to_all().unwrap_or_else(|error| {
                    panic!(
                        "{}, {} with {constants:?}: {error}",
                        source.name, entry.name
                    )
                });
                said += 1;
            }
        }
    }
    assert!(said > 100, "only {said}");
}

/// All that is written to in a block.
fn written_to(block: &naga::Block) -> Vec<naga::Handle<naga::Expression>> {
    use naga::Statement as S;
    let inner = |statement: &S| match statement {
        S::Store { pointer, .. } => vec![*pointer],
        S::Block(block) => written_to(block),
        S::If { accept, reject, .. } => [written_to(accept), written_to(reject)].concat(),
        S::Switch { cases, .. } => cases
            .iter()
            .flat_map(|case| written_to(&case.body))
            .collect(),
        S::Loop {
            body, continuing, ..
        } => [written_to(body), written_to(continuing)].concat(),
        _ => Vec::new(),
    };
    block.iter().flat_map(inner).collect()
}

/// The older compiler of Direct3D takes no `vector[i] = …` and no `matrix[i] = …` unless it knows i or can unroll what is around it
/// (error X3500); arrays and buffers it does.
#[test]
fn components_are_written_by_constant_indices() {
    for source in shader::ALL {
        let (module, info) = validated(source);
        let functions = module
            .functions
            .iter()
            .map(|(handle, function)| (function, &info[handle]));
        let entries = module
            .entry_points
            .iter()
            .enumerate()
            .map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
        for (function, info) in functions.chain(entries) {
            for pointer in written_to(&function.body) {
                let naga::Expression::Access { base, .. } = function.expressions[pointer] else {
                    continue;
                };
                let target = match *info[base].ty.inner_with(&module.types) {
                    naga::TypeInner::Pointer {
                        base,
                        space: naga::AddressSpace::Function | naga::AddressSpace::Private,
                    } => &module.types[base].inner,
                    _ => continue,
                };
                let is_array = matches!(target, naga::TypeInner::Array { .. });
                assert!(
                    is_array,
                    "{}, {}: {target:?}",
                    source.name,
                    function.name.as_deref().unwrap_or("entry point")
                );
            }
        }
    }
}

#[test]
fn struct_layouts_agree_with_the_shaders() {
    let drawn = sinew::render::uniform_layouts()
        .into_iter()
        .map(|layout| (layout.name, layout.size, layout.fields));
    let computed = sinew::gpu::struct_layouts()
        .into_iter()
        .map(|layout| (layout.name, layout.size, layout.fields));
    for (name, size, fields) in drawn.chain(computed) {
        let mut found = 0;
        for source in shader::ALL {
            let module = parse(source);
            for (_, ty) in module
                .types
                .iter()
                .filter(|(_, ty)| ty.name.as_deref() == Some(name))
            {
                let naga::TypeInner::Struct { members, span } = &ty.inner else {
                    panic!("{name} is no struct in {}", source.name)
                };
                let there: Vec<_> = members
                    .iter()
                    .map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize))
                    .collect();
                let here: Vec<_> = fields
                    .iter()
                    .map(|(field, offset)| ((*field).to_owned(), *offset))
                    .collect();
                assert_eq!(there, here, "struct {name} in {}", source.name);
                assert_eq!(
                    *span as usize, size,
                    "size of struct {name} in {}",
                    source.name
                );
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

/// What any device that computes has: eight storage buffers, 16 KiB and 256 threads a workgroup. And what any that draws has.
#[test]
fn entry_points_fit_any_device() {
    let limits = wgpu::Limits::default();
    let mut passes = 0;
    for source in shader::ALL {
        let (module, info) = validated(source);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).expect("has sizes");
        for (index, entry) in module.entry_points.iter().enumerate() {
            let used = || {
                module
                    .global_variables
                    .iter()
                    .filter(|(handle, _)| !info.get_entry_point(index)[*handle].is_empty())
            };
            let count = |is: fn(&naga::AddressSpace, &naga::TypeInner) -> bool| {
                used()
                    .filter(|(_, variable)| is(&variable.space, &module.types[variable.ty].inner))
                    .count() as u32
            };
            let buffers = count(|space, _| matches!(space, naga::AddressSpace::Storage { .. }));
            assert!(buffers <= 8, "{}: {buffers} storage buffers", entry.name);
            let uniforms = count(|space, _| *space == naga::AddressSpace::Uniform);
            assert!(
                uniforms <= limits.max_uniform_buffers_per_shader_stage,
                "{}: {uniforms} uniforms",
                entry.name
            );
            let pictures = count(|_, inner| matches!(inner, naga::TypeInner::Image { .. }));
            assert!(
                pictures <= limits.max_sampled_textures_per_shader_stage,
                "{}: {pictures} pictures",
                entry.name
            );
            let samplers = count(|_, inner| matches!(inner, naga::TypeInner::Sampler { .. }));
            assert!(
                samplers <= limits.max_samplers_per_shader_stage,
                "{}: {samplers} samplers",
                entry.name
            );
            for binding in used().filter_map(|(_, variable)| variable.binding) {
                let there = binding.group < limits.max_bind_groups
                    && binding.binding < limits.max_bindings_per_bind_group;
                assert!(there, "{}: {binding:?}", entry.name);
            }
            if entry.stage == naga::ShaderStage::Compute {
                let shared =
                    used().filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup);
                let bytes: u32 = shared
                    .map(|(_, variable)| layouter[variable.ty].size.next_multiple_of(16))
                    .sum();
                let threads: u32 = entry.workgroup_size.iter().product();
                assert!(
                    bytes <= 16 << 10,
                    "{}: {bytes} bytes in a workgroup",
                    entry.name
                );
                assert!(threads <= 256, "{}: {threads} threads", entry.name);
                passes += 1;
            }
        }
    }
    assert!(passes > 20, "only {passes} passes");
}
