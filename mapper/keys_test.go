package mapper_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// words returns a sample of string items whose values are their keys; a key that ends in *
// is shared.
func words(keys ...string) dataset.Sample {
	var s dataset.Sample
	for _, k := range keys {
		name := strings.TrimSuffix(k, "*")
		s = s.With(dataset.Field{Key: name, Item: dataset.NewItem("txt", name), Shared: name != k})
	}
	return s
}

// shown writes a sample of words: "x=a y=b*".
func shown(t *testing.T, s dataset.Sample) string {
	t.Helper()
	var all []string
	for f := range s.Fields() {
		v, err := f.Item.Value(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := f.Key + "=" + v.(string)
		if f.Shared {
			text += "*"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestKeys checks the mappers that rename items. Simultaneous renames replace pairwise
// ones, which lost items (a swap, two keys onto one); conflicts are errors.
func TestKeys(t *testing.T) {
	in := words("a", "b", "c*")
	for _, c := range []struct {
		name string
		m    dataset.Mapper
		want string
		says string
	}{
		{"rename", mapper.Rename{Names: map[string]string{"a": "x", "z": "y"}}, "x=a b=b c=c*", ""},
		{"rename, a swap", mapper.Rename{Names: map[string]string{"a": "b", "b": "a"}}, "b=a a=b c=c*", ""},
		{"rename onto another", mapper.Rename{Names: map[string]string{"a": "b"}}, "", "items a and b would both be named b"},
		{"rename and leave the rest", mapper.Rename{Names: map[string]string{"a": "x", "z": "y"}, Exclude: true}, "x=a", ""},
		{"rename over what is left out", mapper.Rename{Names: map[string]string{"c": "b"}, Exclude: true}, "b=c*", ""},
		{"format-keys, as they are", mapper.FormatKeys{Format: "*"}, "a=a b=b c=c*", ""},
		{"format-keys, in front", mapper.FormatKeys{Format: "my_*"}, "my_a=a my_b=b my_c=c*", ""},
		{"format-keys, more than once", mapper.FormatKeys{Format: "***", Keys: []string{"a"}}, "aaa=a b=b c=c*", ""},
		{"format-keys, behind", mapper.FormatKeys{Format: "_0", Keys: []string{"b", "z"}}, "a=a b_0=b c=c*", ""},
		{"format-keys, no keys", mapper.FormatKeys{Format: "x*", Keys: []string{}}, "a=a b=b c=c*", ""},
		{"format-keys onto another", mapper.FormatKeys{Format: "b", Keys: []string{"a"}}, "ab=a b=b c=c*", ""},
		{"keep-keys", mapper.KeepKeys{Keys: []string{"c", "a", "z"}}, "a=a c=c*", ""},
		{"keep-keys, none", mapper.KeepKeys{}, "", ""},
		{"drop-keys", mapper.DropKeys{Keys: []string{"a", "z"}}, "b=b c=c*", ""},
		{"duplicate", mapper.Duplicate{Item: "a", Into: "d"}, "a=a b=b c=c* d=a", ""},
		{"duplicate a shared item", mapper.Duplicate{Item: "c", Into: "d"}, "a=a b=b c=c* d=c*", ""},
		{"duplicate what is not there", mapper.Duplicate{Item: "z", Into: "d"}, "", `item "z" not found`},
		{"duplicate onto another", mapper.Duplicate{Item: "a", Into: "b"}, "", "item b exists"},
		{"share nothing", mapper.Share{}, "a=a b=b c=c*", ""},
		{"share own", mapper.Share{Share: []string{"a", "z"}}, "a=a* b=b c=c*", ""},
		{"share shared", mapper.Share{Share: []string{"c"}}, "a=a b=b c=c*", ""},
		{"unshare shared", mapper.Share{Unshare: []string{"c", "z"}}, "a=a b=b c=c", ""},
		{"unshare own", mapper.Share{Unshare: []string{"a"}}, "a=a b=b c=c*", ""},
		{"share and unshare", mapper.Share{Share: []string{"a", "b"}, Unshare: []string{"c"}}, "a=a* b=b* c=c", ""},
	} {
		out, err := c.m.Map(t.Context(), in)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: the error is %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil || shown(t, out) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, shown(t, out), err, c.want)
		}
	}
	if shown(t, in) != "a=a b=b c=c*" {
		t.Errorf("the sample itself was changed: %s", shown(t, in))
	}
	if _, err := (mapper.FormatKeys{Format: "x", Keys: []string{"a"}}).Map(t.Context(), words("a", "ax")); err == nil {
		t.Error("two items under one key went unnoticed")
	}
	if err := (mapper.Share{Share: []string{"a", "b"}, Unshare: []string{"b"}}).Check(); err == nil || !strings.Contains(err.Error(), "item b") {
		t.Errorf("an item in both lists: %v", err)
	}
}

// mapped applies a transform to one sample as the engine does.
func mapped(ctx context.Context, t *testing.T, m dataset.Mapper, err error, s dataset.Sample) (dataset.Sample, error) {
	t.Helper()
	if err != nil {
		return dataset.Sample{}, err
	}
	return dataset.Map(dataset.List(s), m, dataset.MapOptions{}).At(ctx, 0)
}

func hashOf(t *testing.T, h mapper.Hash, s dataset.Sample) string {
	t.Helper()
	m, err := h.Transform()
	out, err := mapped(t.Context(), t, m, err, s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := out.Value(t.Context(), "hash")
	if err != nil {
		t.Fatal(err)
	}
	return v.(string)
}

func TestHashAlgorithms(t *testing.T) {
	lengths := map[string]int{
		"": 64, "md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128, "sha3-256": 64, "sha3-512": 128,
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(lengths)) {
		h := hashOf(t, mapper.Hash{Algorithm: name}, words("a"))
		if len(h) != lengths[name] || strings.Trim(h, "0123456789abcdef") != "" {
			t.Errorf("%s gives %s", name, h)
		}
		if other, ok := seen[h]; ok && (name != "sha256" || other != "") {
			t.Errorf("%s and %s give the same", name, other)
		}
		seen[h] = name
	}
	for _, bad := range []string{"shake_128", "SHA256", "none"} {
		if _, err := (mapper.Hash{Algorithm: bad}).Transform(); err == nil || !strings.Contains(err.Error(), "sha3-512") {
			t.Errorf("%s: the error is %v", bad, err)
		}
	}
}

// TestHashKeys checks what a digest depends on. Equal values have one digest; digests of
// pickles differed.
func TestHashKeys(t *testing.T) {
	s := words("a", "b", "c")
	all, some := hashOf(t, mapper.Hash{}, s), hashOf(t, mapper.Hash{Items: []string{"a", "b"}}, s)
	if all == some || some != hashOf(t, mapper.Hash{Items: []string{"b", "a"}}, s) {
		t.Error("the order of keys matters, or which they are does not")
	}
	if some != hashOf(t, mapper.Hash{Items: []string{"a", "b"}}, s.WithItem("c", dataset.NewItem("txt", "other"))) {
		t.Error("an item that was not chosen matters")
	}
	if some == hashOf(t, mapper.Hash{Items: []string{"a", "b"}}, s.WithItem("b", dataset.NewItem("txt", "other"))) {
		t.Error("an item that was chosen does not matter")
	}
	if none := hashOf(t, mapper.Hash{Items: []string{}}, s); none != hashOf(t, mapper.Hash{Items: []string{}}, words("z")) || none == all {
		t.Error("a digest of no items depends on items")
	}
	x := []any{"x"}
	twice := dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("json", []any{x, x})})
	equal := dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("json", []any{[]any{"x"}, []any{"x"}})})
	if hashOf(t, mapper.Hash{}, twice) != hashOf(t, mapper.Hash{}, equal) {
		t.Error("equal values have two digests")
	}
}
