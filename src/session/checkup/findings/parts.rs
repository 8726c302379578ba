//! Findings about the connected parts of the skin.

use super::{CheckupInput, Finding, FindingKind, PLACES, counted, finding, some_names};
use crate::character::{Place, Severity};

impl CheckupInput<'_> {
    pub(super) fn several_parts(&self, count: usize) -> Option<Finding> {
        let parts = &self.parts.parts;
        let flesh = parts
            .iter()
            .filter(|part| part.place == Place::Flesh)
            .count();
        let remedy = match flesh {
            _ if parts.is_empty() => "not relevant without a skeleton".to_owned(),
            _ if flesh == parts.len() => "all of them are flesh".to_owned(),
            1 => "the one with bones inside is flesh".to_owned(),
            _ => format!("{flesh} with bones inside are flesh"),
        };
        (count > 1).then(|| Finding {
            text: format!("the skin is {count} connected parts"),
            remedy,
            option: (!parts.is_empty()).then(|| "--part NAME=flesh|ride|rigid:JOINT".to_owned()),
            ..finding(FindingKind::Parts, Severity::Info, count)
        })
    }

    pub(super) fn without_bone(&self) -> Option<Finding> {
        let others: Vec<usize> = (0..self.parts.parts.len())
            .filter(|&part| self.parts.parts[part].place != Place::Flesh)
            .collect();
        if others.is_empty() {
            return None;
        }
        let rides = others
            .iter()
            .filter(|&&part| self.parts.parts[part].place == Place::Rides)
            .count();
        let how = [
            (rides, "ride on the flesh next to them"),
            (others.len() - rides, "are rigid with a joint"),
        ];
        let how: Vec<String> = how
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, how)| format!("{count} {how}"))
            .collect();
        let mut largest = others.clone();
        largest.sort_by(|&a, &b| {
            self.parts.parts[b]
                .area
                .total_cmp(&self.parts.parts[a].area)
                .then(a.cmp(&b))
        });
        let mut first = vec![u32::MAX; self.parts.parts.len()];
        for (vertex, &part) in self.parts.part_of_vertex.iter().enumerate().rev() {
            first[part as usize] = vertex as u32;
        }
        let names = some_names(
            largest
                .iter()
                .map(|&part| self.parts.parts[part].name.as_str()),
        );
        let place = |&part: &usize| self.skin_place(first[part], self.parts.parts[part].size());
        Some(Finding {
            text: format!(
                "{} without a bone of their own: {names}",
                counted(others.len(), "part", "parts")
            ),
            remedy: how.join(", "),
            option: Some("--part NAME=flesh|ride|rigid:JOINT".to_owned()),
            places: largest
                .iter()
                .take(PLACES)
                .filter(|&&part| first[part] != u32::MAX)
                .map(place)
                .collect(),
            ..finding(FindingKind::PartsWithoutBone, Severity::Info, others.len())
        })
    }
}
