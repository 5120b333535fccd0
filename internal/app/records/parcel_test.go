package records

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/larder-data/larder/key"
	"pgregory.net/rapid"
)

func items(t *rapid.T) (all []Item) {
	for range rapid.IntRange(0, 12).Draw(t, "items") {
		it := Item{Key: rapid.String().Draw(t, "key"), Shared: rapid.Bool().Draw(t, "shared")}
		if rapid.Bool().Draw(t, "passed") {
			it.From = rapid.StringN(1, 9, -1).Draw(t, "from")
		} else {
			it.Ext = rapid.String().Draw(t, "ext")
			it.Bytes = make([]byte, rapid.SampledFrom([]int{0, 1, 63, Aligned - 1, Aligned, 3 * Aligned}).Draw(t, "length"))
			if rapid.Bool().Draw(t, "digested") {
				it.Digest = key.DigestOf(it.Bytes)
			}
		}
		all = append(all, it)
	}
	return all
}

// TestItemsComeBack checks that items survive, long ones aligned for use as arrays.
func TestItemsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := items(t)
		b := Encode(want)
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for _, it := range got {
			if len(it.Bytes) < Aligned {
				continue
			}
			if at := uintptr(unsafe.Pointer(&it.Bytes[0])) - uintptr(unsafe.Pointer(&b[0])); at%align != 0 {
				t.Fatalf("%d bytes begin at %d", len(it.Bytes), at)
			}
		}
		for cut := range len(b) {
			if _, err := Decode(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are a parcel", cut, len(b))
			}
		}
		if _, err := Decode(append(b, 0)); err == nil {
			t.Fatal("it is a parcel with a byte behind it")
		}
	})
}

// TestAFewBytesStayAFew checks the overhead of a small item.
func TestAFewBytesStayAFew(t *testing.T) {
	b := Encode([]Item{{Key: "hash", Ext: "json", Bytes: make([]byte, 66)}})
	if len(b) != 66+13 {
		t.Errorf("an item of 66 bytes takes %d", len(b))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode([]Item{{Key: "a", From: "b"}, {Key: "c", Ext: "bin", Bytes: []byte("bytes"), Shared: true, Digest: key.DigestOf(nil)}}))
	f.Add(Encode([]Item{{Key: "a", Ext: "npy", Bytes: make([]byte, 2*Aligned)}}))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Encode(got))
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("what was decoded does not come back: %v\n%s", err, diff)
		}
	})
}
