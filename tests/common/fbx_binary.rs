//! The text of `fbx_text` as binary FBX 7.4.

/// A node with its values and children.
struct Node<'a> {
    name: &'a str,
    values: Vec<u8>,
    count: u32,
    children: Option<Vec<Node<'a>>>,
}

/// The binary form of a text.
pub fn of_text(text: &str) -> Vec<u8> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(';'));
    let nodes = children_of(&mut lines);
    let mut out = b"Kaydara FBX Binary  \0\x1a\0".to_vec();
    out.extend(7400_u32.to_le_bytes());
    write_nodes(&nodes, &mut out);
    out
}

/// The nodes up to the brace that closes them, or to the end.
fn children_of<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<Node<'a>> {
    let mut nodes = Vec::new();
    while let Some(line) = lines.next().filter(|line| *line != "}") {
        let (name, rest) = line.split_once(':').expect("a name and values");
        let rest = rest.trim();
        let (words, opens) = rest
            .strip_suffix('{')
            .map_or((rest, false), |words| (words.trim(), true));
        let mut node = Node {
            name,
            values: Vec::new(),
            count: 0,
            children: None,
        };
        if words.starts_with('*') {
            let (_, numbers) = lines
                .next()
                .expect("the numbers")
                .split_once(':')
                .expect("a list");
            assert_eq!(lines.next(), Some("}"));
            push_array(&mut node, numbers);
        } else {
            push_values(&mut node, words);
            node.children = opens.then(|| children_of(lines));
        }
        nodes.push(node);
    }
    nodes
}

fn push_values(node: &mut Node, words: &str) {
    if words.is_empty() {
        return;
    }
    let is_time = words.contains("\"KTime\"");
    let is_real = ["Lcl", "Number", "double"]
        .iter()
        .any(|kind| words.contains(kind));
    for word in words.split(',').map(str::trim) {
        node.count += 1;
        if let Some(text) = word.strip_prefix('"') {
            let text = text.strip_suffix('"').expect("a closing quote");
            // The class follows the name.
            let text = text.split_once("::").map_or_else(
                || text.to_owned(),
                |(class, name)| format!("{name}\0\u{1}{class}"),
            );
            node.values.push(b'S');
            node.values.extend((text.len() as u32).to_le_bytes());
            node.values.extend(text.as_bytes());
        } else if node.name == "P" && is_real {
            node.values.push(b'D');
            node.values.extend(number::<f64>(word).to_le_bytes());
        } else if is_time || matches!(node.name, "C" | "Default") || number::<i64>(word) >= 1000 {
            node.values.push(b'L');
            node.values.extend(number::<i64>(word).to_le_bytes());
        } else {
            node.values.push(b'I');
            node.values.extend(number::<i32>(word).to_le_bytes());
        }
    }
}

/// An array; that of the polygons is packed, in a block that is stored as it is.
fn push_array(node: &mut Node, numbers: &str) {
    let words = || numbers.split(',').map(str::trim);
    let (kind, data): (u8, Vec<u8>) = match node.name {
        "KeyTime" => (
            b'l',
            words()
                .flat_map(|w| number::<i64>(w).to_le_bytes())
                .collect(),
        ),
        "Vertices" | "UV" | "Weights" | "Transform" | "TransformLink" => (
            b'd',
            words()
                .flat_map(|w| number::<f64>(w).to_le_bytes())
                .collect(),
        ),
        "KeyValueFloat" | "KeyAttrDataFloat" => (
            b'f',
            words()
                .flat_map(|w| number::<f32>(w).to_le_bytes())
                .collect(),
        ),
        _ => (
            b'i',
            words()
                .flat_map(|w| number::<i32>(w).to_le_bytes())
                .collect(),
        ),
    };
    let is_packed = node.name == "PolygonVertexIndex";
    let data = if is_packed { stored(&data) } else { data };
    node.count = 1;
    node.values.push(kind);
    for length in [words().count(), usize::from(is_packed), data.len()] {
        node.values.extend((length as u32).to_le_bytes());
    }
    node.values.extend(data);
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse()
        .unwrap_or_else(|_| panic!("{word} is no number"))
}

/// As a zlib stream (RFC 1950) of one stored block.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("one block");
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in data {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    let mut out = vec![0x78, 0x01, 0x01];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(data);
    out.extend((b << 16 | a).to_be_bytes());
    out
}

/// Writes nodes and the empty one that ends them.
fn write_nodes(nodes: &[Node], out: &mut Vec<u8>) {
    for node in nodes {
        let start = out.len();
        out.extend([0; 4]);
        out.extend(node.count.to_le_bytes());
        out.extend((node.values.len() as u32).to_le_bytes());
        out.push(node.name.len() as u8);
        out.extend(node.name.as_bytes());
        out.extend(&node.values);
        if let Some(children) = &node.children {
            write_nodes(children, out);
        }
        let end = out.len() as u32;
        out[start..start + 4].copy_from_slice(&end.to_le_bytes());
    }
    out.extend([0; 13]);
}
