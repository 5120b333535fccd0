package key

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	d := DigestOf([]byte("abc"))
	const want = "d1-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if d.String() != want {
		t.Errorf("%v, want %s", d, want)
	}
	if back, err := ParseDigest(want); err != nil || back != d {
		t.Errorf("%v, %v", back, err)
	}
	k := Key(d)
	if back, err := ParseKey(k.String()); err != nil || back != k {
		t.Errorf("%v, %v", back, err)
	}
	bad := []string{"", "d1-", want[3:], "k1" + want[2:], "d2" + want[2:], want + "0", want[:len(want)-1], want[:len(want)-1] + "g", " " + want, strings.Replace(want, "-", "_", 1)}
	for _, s := range bad {
		if got, err := ParseDigest(s); err == nil || !got.IsZero() {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(DigestOf(nil).String())
	f.Add(Key(DigestOf(nil)).String())
	f.Add("d1-")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDigest(s); err == nil && !strings.EqualFold(d.String(), s) {
			t.Errorf("%q is read as %v", s, d)
		}
		if k, err := ParseKey(s); err == nil && !strings.EqualFold(k.String(), s) {
			t.Errorf("%q is read as %v", s, k)
		}
	})
}
