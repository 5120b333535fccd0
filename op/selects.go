package op

import "github.com/larder-data/larder/component"

// The methods below implement [component.Selector]. Operators without one may return a
// sample any number of times.

// Selects returns ExactlyOnce.
func (Clone) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns AtMostOnce.
func (Slice) Selects() component.Selection { return component.AtMostOnce }

// Selects returns ExactlyOnce.
func (Reverse) Selects() component.Selection { return component.ExactlyOnce }

// Selects depends on the number of passes.
func (r Repeat) Selects() component.Selection {
	if r.Times < 1 {
		return component.AtMostOnce
	}
	return component.AtLeastOnce
}

// Selects depends on whether the positions are those to leave out.
func (x Index) Selects() component.Selection {
	if x.Negate {
		return component.AtMostOnce
	}
	return component.AnyTimes
}

// Selects depends on whether a longer dataset is truncated.
func (p Pad) Selects() component.Selection {
	if p.Truncate {
		return component.AnyTimes
	}
	return component.AtLeastOnce
}

// Selects returns ExactlyOnce.
func (Shuffle) Selects() component.Selection { return component.ExactlyOnce }

// Selects depends on what happens to remaining samples.
func (s Shard) Selects() component.Selection {
	if s.Rest == "repeat" {
		return component.AnyTimes
	}
	return component.AtMostOnce
}

// Selects returns ExactlyOnce.
func (CheckLength) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (Enumerate) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (Memorize) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (MapIf) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns AtMostOnce.
func (Filter) Selects() component.Selection { return component.AtMostOnce }

// Selects returns ExactlyOnce.
func (Sort) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (GroupBy) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns AtMostOnce.
func (Split) Selects() component.Selection { return component.AtMostOnce }

// Selects returns ExactlyOnce.
func (Batch) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (Chunk) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns ExactlyOnce.
func (Cat) Selects() component.Selection { return component.ExactlyOnce }

// Selects returns AtMostOnce.
func (Interleave) Selects() component.Selection { return component.AtMostOnce }

// Selects returns AtMostOnce.
func (Zip) Selects() component.Selection { return component.AtMostOnce }
