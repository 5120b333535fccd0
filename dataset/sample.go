package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
)

// A Sample is a named set of items, in a fixed order. It is immutable: methods that
// change something return another sample. The zero Sample is empty.
//
// An item is shared if it belongs to the dataset instead of one of its samples. If a
// shared item and the sample's own have one key, the sample's own takes precedence, in
// any order.
type Sample struct{ fields []Field }

// A Field is an item of a sample under its key.
type Field struct {
	Key  string
	Item *Item
	// Shared says that the item belongs to the dataset instead of one of its samples. See
	// [Sample].
	Shared bool
}

// NewSample returns a sample of the given fields. The last field of a key takes
// precedence, but a shared one never replaces the sample's own.
func NewSample(fields ...Field) Sample {
	s := Sample{make([]Field, 0, len(fields))}
	for _, f := range fields {
		s.set(f)
	}
	return s
}

// set adds f to a sample that no other code has seen yet.
func (s *Sample) set(f Field) {
	i := s.index(f.Key)
	switch {
	case i < 0:
		s.fields = append(s.fields, f)
	case f.Shared && !s.fields[i].Shared:
	default:
		s.fields[i] = f
	}
}

func (s Sample) index(key string) int {
	for i := range s.fields {
		if s.fields[i].Key == key {
			return i
		}
	}
	return -1
}

// Len returns the number of items.
func (s Sample) Len() int { return len(s.fields) }

// Fields yields the items with their keys, in order.
func (s Sample) Fields() iter.Seq[Field] { return slices.Values(s.fields) }

// Keys returns the keys in order.
func (s Sample) Keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.Key
	}
	return keys
}

// Field returns the field under key.
func (s Sample) Field(key string) (Field, bool) {
	if i := s.index(key); i >= 0 {
		return s.fields[i], true
	}
	return Field{}, false
}

// Item returns the item under key, or an error that lists the existing keys.
func (s Sample) Item(key string) (*Item, error) {
	if i := s.index(key); i >= 0 {
		return s.fields[i].Item, nil
	}
	return nil, &NoItemError{Key: key, Have: s.Keys()}
}

// Value returns the value of the item under key.
func (s Sample) Value(ctx context.Context, key string) (any, error) {
	it, err := s.Item(key)
	if err != nil {
		return nil, err
	}
	v, err := it.Value(ctx)
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", display.Name(key), err)
	}
	return v, nil
}

// inOrder returns s as transforms receive it: in the order of the keys, with no item
// shared and none twice, because keys of results do not cover that.
func (s Sample) inOrder() Sample {
	plain := true
	var met meetings
	for i, f := range s.fields {
		plain = plain && !f.Shared && (i == 0 || s.fields[i-1].Key < f.Key) && !met.before(s.fields, i)
	}
	if plain {
		return s
	}
	fields := slices.SortedFunc(slices.Values(s.fields), func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	met = meetings{}
	for i, f := range fields {
		fields[i].Shared = false
		if met.before(fields, i) {
			fields[i].Item = ItemFrom(f.Item.origin)
		}
	}
	return Sample{fields}
}

// meetings reports for each item of a sample whether it occurred before. For few items
// it compares them with each other.
type meetings struct{ many map[*Item]bool }

// fewItems is the number of items up to which comparing pairs is faster than a map.
const fewItems = 32

func (m *meetings) before(fields []Field, i int) bool {
	it := fields[i].Item
	if len(fields) <= fewItems {
		return holds(fields[:i], it)
	}
	if m.many == nil {
		m.many = make(map[*Item]bool, len(fields))
	}
	met := m.many[it]
	m.many[it] = true
	return met
}

// passing returns the full result of a transform on given, the part of s that it
// received as in. Items that were passed on keep their order and stay shared.
func (s Sample) passing(given, in Sample) Sample {
	if slices.Equal(given.fields, in.fields) {
		return s
	}
	out := Sample{make([]Field, 0, len(s.fields))}
	for _, f := range in.fields {
		if i := s.index(f.Key); i >= 0 {
			g, _ := given.Field(f.Key)
			passed := s.fields[i]
			passed.Shared = passed.Shared || f.Shared && g.Item == passed.Item
			out.fields = append(out.fields, passed)
		}
	}
	for _, f := range s.fields {
		if in.index(f.Key) < 0 {
			out.fields = append(out.fields, f)
		}
	}
	return out
}

func holds(fields []Field, it *Item) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Item == it })
}

// With returns s with the given fields added. Each replaces a field of the same key, but
// a shared one does not replace the sample's own. [Sample.Share] makes an item shared.
func (s Sample) With(fields ...Field) Sample {
	out := Sample{append(make([]Field, 0, len(s.fields)+len(fields)), s.fields...)}
	for _, f := range fields {
		out.set(f)
	}
	return out
}

// WithItem returns s with the item under key, not shared.
func (s Sample) WithItem(key string, it *Item) Sample {
	return s.With(Field{Key: key, Item: it})
}

// Without returns s without the given keys; it ignores missing keys.
func (s Sample) Without(keys ...string) Sample {
	return s.filter(func(key string) bool { return !slices.Contains(keys, key) })
}

// Only returns s with just the given keys, in the order of s; it ignores missing keys.
func (s Sample) Only(keys ...string) Sample {
	return s.filter(func(key string) bool { return slices.Contains(keys, key) })
}

// pick is Only, but a missing key is an error. The error lists all items of s, including
// those that the receiver does not get.
func (s Sample) pick(keys []string) (Sample, error) {
	for _, k := range keys {
		if _, err := s.Item(k); err != nil {
			return Sample{}, err
		}
	}
	out := Sample{make([]Field, 0, len(keys))}
	for _, f := range s.fields {
		if slices.Contains(keys, f.Key) {
			out.fields = append(out.fields, f)
		}
	}
	return out, nil
}

func (s Sample) filter(keep func(key string) bool) Sample {
	out := Sample{make([]Field, 0, len(s.fields))}
	for _, f := range s.fields {
		if keep(f.Key) {
			out.fields = append(out.fields, f)
		}
	}
	return out
}

// Rename gives items new keys, all in one step, so that names can be swapped. It ignores
// missing keys. Two items with one new key are an error.
func (s Sample) Rename(names map[string]string) (Sample, error) {
	out := Sample{make([]Field, 0, len(s.fields))}
	for i, f := range s.fields {
		if to, ok := names[f.Key]; ok {
			f.Key = to
		}
		if other := out.index(f.Key); other >= 0 {
			return Sample{}, fmt.Errorf("rename: items %s and %s would both be named %s", s.fields[other].Key, s.fields[i].Key, f.Key)
		}
		out.fields = append(out.fields, f)
	}
	return out, nil
}

// Remap is Rename without the items that names does not have.
func (s Sample) Remap(names map[string]string) (Sample, error) {
	return s.filter(func(key string) bool { _, ok := names[key]; return ok }).Rename(names)
}

// Share returns s with the items under the given keys shared or, if shared is false, its
// own. It ignores missing keys.
func (s Sample) Share(shared bool, keys ...string) Sample {
	out := Sample{slices.Clone(s.fields)}
	for i, f := range out.fields {
		if slices.Contains(keys, f.Key) {
			out.fields[i].Shared = shared
		}
	}
	return out
}

// NoItemError says that a sample has no item under a key.
type NoItemError struct {
	Key  string
	Have []string
}

// Error lists the existing items, beginning with one whose name is similar to the
// missing one.
func (e *NoItemError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("item %q not found; the sample is empty", e.Key)
	}
	have := e.Have
	if best := display.Nearest(e.Key, have); best != "" {
		others := slices.DeleteFunc(slices.Clone(have), func(k string) bool { return k == best })
		have = append([]string{best}, others...)
	}
	return fmt.Sprintf("item %q not found; the sample has %s", e.Key, strings.Join(have, ", "))
}
