package key

import "strings"

// A Change is one difference between two actions.
type Change struct {
	Old, New Part // of one kind and name; the zero Part if missing
}

// Diff compares the parts of two actions. It returns what changed or was added in the
// order of after, then what was removed. It matches parts by kind and name, and parts
// with the same kind and name by their order.
func Diff(before, after []Part) []Change {
	type id struct {
		kind, name string
		n          int
	}
	count := map[id]int{}
	next := func(p Part) id {
		if p.Kind == OpPart {
			p.Name = "" // a detail is not part of the key
		}
		same := id{kind: p.Kind, name: p.Name}
		count[same]++
		return id{p.Kind, p.Name, count[same]}
	}
	old := make(map[id]Part, len(before))
	for _, p := range before {
		old[next(p)] = p
	}
	clear(count)
	var changes []Change
	for _, p := range after {
		k := next(p)
		was := old[k]
		delete(old, k)
		if was.Digest != p.Digest {
			changes = append(changes, Change{Old: was, New: p})
		}
	}
	clear(count)
	for _, p := range before {
		if _, left := old[next(p)]; left {
			changes = append(changes, Change{Old: p})
		}
	}
	return changes
}

// String returns the change with both values: "times: changed (100 -> 3)". It shortens
// digests and keys to four digits.
func (c Change) String() string {
	switch {
	case c.Old == (Part{}):
		return label(c.New) + ": added (" + shorten(c.New.Value) + ")"
	case c.New == (Part{}):
		return label(c.Old) + ": removed (" + shorten(c.Old.Value) + ")"
	case c.Old.Value == c.New.Value: // the difference is in what the text omits
		return label(c.New) + ": changed (" + c.New.Value + ", " + digits(c.Old.Digest) + " -> " + digits(c.New.Digest) + ")"
	}
	return label(c.New) + ": changed (" + shorten(c.Old.Value) + " -> " + shorten(c.New.Value) + ")"
}

// label returns the name of a part that the user knows.
func label(p Part) string {
	switch p.Kind {
	case paramPart, ArgPart:
		return p.Name
	case InputPart:
		return "input " + p.Name
	case ReadPart:
		return p.Name
	}
	return p.Kind
}

func digits(d Digest) string { return shorten(d.String()) }

// shorten cuts the digests and keys in s to their first digits.
func shorten(text string) string {
	words := strings.Split(text, " ")
	for i, name := range words {
		_, isDigest := ParseDigest(name)
		_, isKey := ParseKey(name)
		if _, hex, _ := strings.Cut(name, "-"); isDigest == nil || isKey == nil {
			words[i] = hex[:4] + "..."
		}
	}
	return strings.Join(words, " ")
}
