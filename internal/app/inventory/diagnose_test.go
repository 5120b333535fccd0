package inventory

import (
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// TestDiagnoseExamples checks the examples of RFC 8949, appendix A.
func TestDiagnoseExamples(t *testing.T) {
	for text, want := range map[string]string{
		"\x00": "0", "\x18\x64": "100", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff": "18446744073709551615",
		"\x3b\xff\xff\xff\xff\xff\xff\xff\xff": "-18446744073709551616", "\x20": "-1", "\x39\x03\xe7": "-1000",
		"\xf9\x00\x00": "0.0", "\xf9\x80\x00": "-0.0", "\xf9\x3c\x00": "1.0", "\xf9\x7b\xff": "65504.0", "\xf9\x00\x01": "5.960464477539063e-8",
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

// TestDiagnoseCuts checks that long parts are cut anywhere, and the rest stays.
func TestDiagnoseCuts(t *testing.T) {
	long := strings.Repeat("ж\"", 4000)
	b, err := cbor.Marshal([]any{long, make([]byte, 9000), "short", slices.Repeat([]int{7}, 9000)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := diagnose(b)
	want := `["` + strings.Repeat(`ж\"`, 40) + `...", h'` + strings.Repeat("00", 80) + `...', "short", [7, 7, `
	if err != nil || !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "...") || len(text) > maxDiagnosed+8*maxString {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if _, err := diagnose(make([]byte, maxNotation+1)); err == nil {
		t.Error("what is too long has a notation")
	}
}

// TestDiagnoseRefuses checks that invalid items are refused, whatever they claim.
func TestDiagnoseRefuses(t *testing.T) {
	deep := strings.Repeat("\x81", maxNested+2) + "\x00"
	for _, text := range []string{"", "\x18", "\x1c", "\xff", "\x41", "\x61\xff", "\x81", "\xa1\x01", "\x00\x00",
		"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\xf8\x10", "\xc1", deep} {
		if got, err := diagnose([]byte(text)); err == nil {
			t.Errorf("%.20x is treated as %.50s", text, got)
		}
	}
}

func FuzzDiagnose(f *testing.F) {
	for _, seed := range []string{"", "\x00", "\x83\x01\x82\x02\x03\xf5", "\xa1\x61a\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := diagnose(b)
		if len(text) > maxDiagnosed+8*maxString {
			t.Errorf("%d bytes of notation", len(text))
		}
		if err == nil && cbor.Wellformed(b) != nil {
			t.Errorf("%x is treated as %s and is not well-formed", b, text)
		}
	})
}
