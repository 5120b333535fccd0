package inventory

import (
	"math"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"
)

// TestDiagnoseExamples are from RFC 8949, appendix A.
func TestDiagnoseExamples(t *testing.T) {
	for text, want := range map[string]string{
		"\x00": "0", "\x18\x64": "100", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff": "18446744073709551615",
		"\x3b\xff\xff\xff\xff\xff\xff\xff\xff": "-18446744073709551616", "\x20": "-1", "\x39\x03\xe7": "-1000",
		"\xf9\x00\x00": "0.0", "\xf9\x80\x00": "-0.0", "\xf9\x3c\x00": "1.0", "\xf9\x7b\xff": "65504.0", "\xf9\x00\x01": "5.960464477539063e-08",
		"\xfa\x47\xc3\x50\x00": "100000.0", "\xfb\xc0\x10\x66\x66\x66\x66\x66\x66": "-4.1",
		"\xf9\x7c\x00": "Infinity", "\xf9\x7e\x00": "NaN", "\xf9\xfc\x00": "-Infinity",
		"\xf4": "false", "\xf5": "true", "\xf6": "null", "\xf7": "undefined", "\xf0": "simple(16)", "\xf8\xff": "simple(255)",
		"\xc1\x1a\x51\x4b\x67\xb0": "1(1363896240)", "\x40": "h''", "\x44\x01\x02\x03\x04": "h'01020304'",
		"\x60": `""`, "\x62\x22\x5c": `"\"\\"`, "\x62\xc3\xbc": `"ü"`, "\x64\xf0\x90\x85\x91": "\"\U00010151\"", "\x61\x00": `"\u0000"`,
		"\x80": "[]", "\x83\x01\x82\x02\x03\x82\x04\x05": "[1, [2, 3], [4, 5]]", "\xa0": "{}", "\xa2\x01\x02\x03\x04": "{1: 2, 3: 4}",
	} {
		if got, err := diagnose([]byte(text)); err != nil || got != want {
			t.Errorf("%x is %s, %v; want %s", text, got, err, want)
		}
	}
}

// TestDiagnoseRefuses what is no item of known length, however it claims to be.
func TestDiagnoseRefuses(t *testing.T) {
	deep := strings.Repeat("\x81", maxNested+2) + "\x00"
	for _, text := range []string{"", "\x18", "\x1c", "\xff", "\x41", "\x61\xff", "\x9f\xff", "\x81", "\xa1\x01", "\x00\x00",
		"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\xf8\x10", "\xc1", deep} {
		if got, err := diagnose([]byte(text)); err == nil {
			t.Errorf("%.20x is taken for %.50s", text, got)
		}
	}
}

// TestDiagnoseAgrees holds diagnose to the CBOR library's own notation.
func TestDiagnoseAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := cbor.Marshal(anything(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := cbor.Diagnose(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := diagnose(b); err != nil || got != want {
			t.Fatalf("%x: %s, %v; the library says %s", b, got, err, want)
		}
	})
}

// anything generates values whose notation nobody disagrees on: short, ASCII.
func anything(depth int) *rapid.Generator[any] {
	text := rapid.StringMatching(`[ -~]{0,12}`)
	leaves := []*rapid.Generator[any]{
		rapid.Int64().AsAny(), rapid.Uint64().AsAny(), rapid.Bool().AsAny(), text.AsAny(), rapid.Just[any](nil),
		rapid.SliceOfN(rapid.Byte(), 0, 12).AsAny(), rapid.Float64Range(-1e6, 1e6).Filter(func(f float64) bool { return f == 0 || math.Abs(f) > 1e-3 }).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	element := anything(depth - 1)
	return rapid.OneOf(append(leaves, rapid.SliceOfN(element, 0, 4).AsAny(), rapid.MapOfN(text, element, 0, 4).AsAny())...)
}

func FuzzDiagnose(f *testing.F) {
	for _, seed := range []string{"", "\x00", "\x83\x01\x82\x02\x03\xf5", "\xa1\x61a\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed))
	}
	library, err := cbor.DecOptions{MaxNestedLevels: 65535, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32, IndefLength: cbor.IndefLengthForbidden}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := diagnose(b)
		if len(text) > maxDiagnosed+8*maxString {
			t.Errorf("%d bytes of notation", len(text))
		}
		if err == nil && library.Wellformed(b) != nil {
			t.Errorf("%x is taken for %s and is not well-formed", b, text)
		}
	})
}
