//! Barriers stand where all threads of a workgroup come by for reasons that Direct3D's older compiler sees, too: no branch or loop around
//! one, and no way out before it, hangs on what is read from a buffer or from workgroup memory but by `workgroupUniformLoad`.

use std::collections::HashSet;

use naga::{AddressSpace, Block, Expression, Function, Handle, LocalVariable, Module, Statement};

use super::parse;

/// What is known of functions that others may call.
#[derive(Default)]
struct Known {
    /// They return something that memory says.
    remembering: HashSet<Handle<Function>>,
    /// There is a barrier in them.
    waiting: HashSet<Handle<Function>>,
}

/// A function, and its variables that hold something that memory says.
struct Body<'a> {
    module: &'a Module,
    function: &'a Function,
    known: &'a Known,
    variables: HashSet<Handle<LocalVariable>>,
}

impl<'a> Body<'a> {
    fn new(module: &'a Module, function: &'a Function, known: &'a Known) -> Self {
        let mut body = Self {
            module,
            function,
            known,
            variables: HashSet::new(),
        };
        // A variable may be written to after it was read, in a loop.
        while body.note_variables(&function.body) {}
        body
    }

    /// Whether memory has a say in a value; of a pointer, in where it points or what is there.
    fn hangs(&self, expression: Handle<Expression>) -> bool {
        let any =
            |operands: &[Handle<Expression>]| operands.iter().any(|&operand| self.hangs(operand));
        match &self.function.expressions[expression] {
            Expression::GlobalVariable(variable) => {
                matches!(
                    self.module.global_variables[*variable].space,
                    AddressSpace::Storage { .. } | AddressSpace::WorkGroup
                )
            }
            Expression::LocalVariable(variable) => self.variables.contains(variable),
            Expression::CallResult(function) => self.known.remembering.contains(function),
            Expression::AtomicResult { .. } => true,
            Expression::Access { base, index } => any(&[*base, *index]),
            Expression::AccessIndex { base, .. } => self.hangs(*base),
            Expression::Splat { value, .. } => self.hangs(*value),
            Expression::Swizzle { vector, .. } => self.hangs(*vector),
            Expression::Compose { components, .. } => any(components),
            Expression::Load { pointer } => self.hangs(*pointer),
            Expression::Unary { expr, .. } | Expression::As { expr, .. } => self.hangs(*expr),
            Expression::Binary { left, right, .. } => any(&[*left, *right]),
            Expression::Select {
                condition,
                accept,
                reject,
            } => any(&[*condition, *accept, *reject]),
            Expression::Relational { argument, .. } => self.hangs(*argument),
            Expression::Math {
                arg,
                arg1,
                arg2,
                arg3,
                ..
            } => [Some(*arg), *arg1, *arg2, *arg3]
                .into_iter()
                .flatten()
                .any(|arg| self.hangs(arg)),
            // Constants, arguments, workgroupUniformLoad.
            _ => false,
        }
    }

    /// The variable behind a pointer, if it is one.
    fn variable(&self, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        match self.function.expressions[pointer] {
            Expression::LocalVariable(variable) => Some(variable),
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                self.variable(base)
            }
            _ => None,
        }
    }

    /// Returns whether there was one more.
    fn note_variables(&mut self, block: &Block) -> bool {
        let mut more = false;
        for statement in block {
            if let Statement::Store { pointer, value } = *statement
                && self.hangs(value)
                && let Some(variable) = self.variable(pointer)
            {
                more |= self.variables.insert(variable);
            }
            for inner in blocks(statement) {
                more |= self.note_variables(inner);
            }
        }
        more
    }

    fn is_barrier(&self, statement: &Statement) -> bool {
        match statement {
            Statement::ControlBarrier(_) | Statement::WorkGroupUniformLoad { .. } => true,
            Statement::Call { function, .. } => self.known.waiting.contains(function),
            _ => false,
        }
    }

    fn waits(&self, block: &Block) -> bool {
        has(block, &|statement| self.is_barrier(statement))
    }

    fn remembers(&self) -> bool {
        has(
            &self.function.body,
            &|statement| matches!(statement, Statement::Return { value: Some(value) } if self.hangs(*value)),
        )
    }

    /// Checks a block; `in_loop`: there is a barrier in the loop around it; `later`: there is one after it.
    fn check(&self, block: &Block, in_loop: bool, later: bool) {
        let name = self.function.name.as_deref().unwrap_or("an entry point");
        for (k, statement) in block.iter().enumerate() {
            let after = |statement: &Statement| {
                self.is_barrier(statement) || blocks(statement).any(|inner| self.waits(inner))
            };
            let later = later || in_loop || block[k + 1..].iter().any(after);
            let inside = match statement {
                Statement::Loop {
                    body,
                    continuing,
                    break_if,
                } => {
                    let waits = self.waits(body) || self.waits(continuing);
                    let leaves = break_if.is_some_and(|condition| self.hangs(condition));
                    assert!(
                        !waits || !leaves,
                        "{name}: a loop with a barrier ends when memory says so"
                    );
                    waits
                }
                _ => in_loop,
            };
            if let Statement::If { condition: on, .. } | Statement::Switch { selector: on, .. } =
                *statement
                && self.hangs(on)
            {
                let waits = blocks(statement).any(|inner| self.waits(inner));
                let leaves = |statement: &Statement| {
                    matches!(statement, Statement::Break | Statement::Continue)
                };
                let leaves = in_loop && blocks(statement).any(|inner| has(inner, &leaves));
                let returns = blocks(statement).any(|inner| {
                    has(inner, &|statement| {
                        matches!(statement, Statement::Return { .. })
                    })
                });
                assert!(!waits, "{name}: a barrier stands where memory says so");
                assert!(
                    !leaves,
                    "{name}: a loop with a barrier is left when memory says so"
                );
                assert!(
                    !returns || !later,
                    "{name}: memory says whether a barrier is come to"
                );
            }
            blocks(statement).for_each(|inner| self.check(inner, inside, later));
        }
    }
}

/// The blocks of a statement.
fn blocks(statement: &Statement) -> impl Iterator<Item = &Block> {
    let blocks: Vec<&Block> = match statement {
        Statement::Block(block) => vec![block],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
        Statement::Loop {
            body, continuing, ..
        } => vec![body, continuing],
        _ => Vec::new(),
    };
    blocks.into_iter()
}

/// Whether there is such a statement in a block or the blocks in it.
fn has(block: &Block, is: &dyn Fn(&Statement) -> bool) -> bool {
    block
        .iter()
        .any(|statement| is(statement) || blocks(statement).any(|inner| has(inner, is)))
}

/// How many functions have barriers.
fn check(module: &Module) -> usize {
    let mut known = Known::default();
    // Functions come after those that they call.
    for (handle, function) in module.functions.iter() {
        let body = Body::new(module, function, &known);
        body.check(&function.body, false, false);
        let (waits, remembers) = (body.waits(&function.body), body.remembers());
        known.waiting.extend(waits.then_some(handle));
        known.remembering.extend(remembers.then_some(handle));
    }
    let mut waiting = known.waiting.len();
    for entry in &module.entry_points {
        let body = Body::new(module, &entry.function, &known);
        body.check(&entry.function.body, false, false);
        waiting += usize::from(body.waits(&entry.function.body));
    }
    waiting
}

#[test]
fn barriers_are_in_uniform_control_flow() {
    let waiting: usize = sinew::gpu::shader::ALL
        .iter()
        .map(|source| check(&parse(source)))
        .sum();
    assert!(waiting > 10, "only {waiting} functions with barriers");
}

/// The check notices each kind.
#[test]
fn violations_are_detected() {
    let refused = |inside: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> a: array<u32>; var<workgroup> w: u32;
             @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {{ {inside} }}"
        );
        let module = naga::front::wgsl::parse_str(&text).expect("is WGSL");
        std::panic::catch_unwind(|| check(&module)).is_err()
    };
    assert!(refused("if a[0] > 3u { workgroupBarrier(); }"));
    assert!(refused("if a[0] > 3u { return; } workgroupBarrier();"));
    assert!(refused(
        "let end = a[1]; for (var k = a[0]; k < end; k++) { workgroupBarrier(); }"
    ));
    assert!(refused(
        "for (var k = 0u; k < 3u; k++) { workgroupBarrier(); if w > 0u { break; } }"
    ));
    assert!(!refused(
        "if t == 0u { w = a[0]; } if workgroupUniformLoad(&w) > 3u { return; } workgroupBarrier();"
    ));
    assert!(!refused(
        "for (var k = t; k < a[0]; k++) { w = k; } workgroupBarrier();"
    ));
}
