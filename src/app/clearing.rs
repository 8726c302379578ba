//! Places floating cards so that they do not cover scores, method names, colour bars and tools.

use egui::{Pos2, Rect, Vec2, pos2};

/// Gap between a card and the plates it avoids, points.
const GAP: f32 = 6.0;

/// The position nearest to the preferred one where a card covers none of these plates.
///
/// If there is none, the position with the smallest covered area.
#[must_use]
pub fn clear_place(room: Rect, wanted: Rect, plates: &[Rect]) -> Rect {
    let plates: Vec<Rect> = plates
        .iter()
        .filter(|plate| plate.is_positive() && plate.intersects(room))
        .map(|plate| plate.expand(GAP))
        .collect();
    let wanted = Rect::from_min_size(inside(room, wanted.min, wanted.size()), wanted.size());
    if covered(wanted, &plates) == 0.0 {
        return wanted;
    }
    // At the nearest free position the card touches an edge of a plate, in one direction or both.
    let size = wanted.size();
    let xs = plates
        .iter()
        .flat_map(|plate| [plate.left() - size.x, plate.right()])
        .chain([wanted.left()]);
    let ys: Vec<f32> = plates
        .iter()
        .flat_map(|plate| [plate.top() - size.y, plate.bottom()])
        .chain([wanted.top()])
        .collect();
    let places = xs.flat_map(|x| {
        ys.iter()
            .map(move |&y| Rect::from_min_size(inside(room, pos2(x, y), size), size))
    });
    let cost = |place: &Rect| (covered(*place, &plates), place.min.distance(wanted.min));
    let by_cost = |a: &Rect, b: &Rect| {
        let ((a_covers, a_far), (b_covers, b_far)) = (cost(a), cost(b));
        a_covers.total_cmp(&b_covers).then(a_far.total_cmp(&b_far))
    };
    places.min_by(by_cost).unwrap_or(wanted)
}

fn inside(room: Rect, corner: Pos2, size: Vec2) -> Pos2 {
    let most = (room.max - size).max(room.min);
    corner.clamp(room.min, most)
}

/// Covered area, square points.
fn covered(card: Rect, plates: &[Rect]) -> f32 {
    plates
        .iter()
        .map(|plate| plate.intersect(card))
        .filter(Rect::is_positive)
        .map(|both| both.area())
        .sum()
}

#[cfg(test)]
mod tests {
    use egui::vec2;

    use super::*;

    fn rect(x: f32, y: f32, width: f32, height: f32) -> Rect {
        Rect::from_min_size(pos2(x, y), vec2(width, height))
    }

    #[test]
    fn a_card_moves_as_little_as_necessary_and_stays_inside() {
        let room = rect(100.0, 50.0, 800.0, 600.0);
        let corner = rect(112.0, 500.0, 300.0, 140.0);
        assert_eq!(clear_place(room, corner, &[]), corner);
        assert_eq!(
            clear_place(room, corner, &[rect(600.0, 60.0, 50.0, 500.0)]),
            corner,
            "what is elsewhere is nothing to it"
        );
        let band = rect(100.0, 610.0, 800.0, 40.0);
        assert_eq!(
            clear_place(room, corner, &[band]),
            corner.translate(vec2(0.0, 610.0 - GAP - 640.0)),
            "it stands on the plates"
        );
        let pillar = rect(150.0, 50.0, 60.0, 600.0);
        assert_eq!(
            clear_place(room, corner, &[pillar]).left(),
            210.0 + GAP,
            "or beside them"
        );
        for plates in [
            vec![band, pillar],
            vec![
                band,
                rect(100.0, 50.0, 800.0, 120.0),
                rect(112.0, 300.0, 40.0, 40.0),
            ],
        ] {
            let place = clear_place(room, corner, &plates);
            assert!(
                room.contains_rect(place) && plates.iter().all(|plate| !plate.intersects(place)),
                "{place:?}"
            );
        }
    }

    #[test]
    fn without_free_space_it_covers_the_smallest_area() {
        let room = rect(0.0, 0.0, 300.0, 200.0);
        let place = clear_place(
            room,
            rect(10.0, 100.0, 280.0, 90.0),
            &[rect(0.0, 0.0, 300.0, 90.0), rect(0.0, 160.0, 300.0, 40.0)],
        );
        assert!(room.contains_rect(place));
        assert!(
            covered(place, &[rect(0.0, 160.0, 300.0, 40.0)]) <= 300.0 * 30.0,
            "{place:?}"
        );
        let larger = clear_place(room, rect(0.0, 0.0, 500.0, 400.0), &[room]);
        assert_eq!(
            larger.min, room.min,
            "what is larger than the room begins with it"
        );
    }
}
