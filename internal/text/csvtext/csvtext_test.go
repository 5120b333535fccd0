package csvtext_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/text/csvtext"
)

// rows reads all rows, their offsets and the positions of their fields.
func rows(text string, comma rune) (all [][]string, err error) {
	r := csvtext.NewReader(strings.NewReader(text))
	r.Comma = comma
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
}

func TestFieldsKeepTheirBytes(t *testing.T) {
	for text, want := range map[string][][]string{
		"":                              nil,
		"a,b\r\n\"x\r\ny\",\"\r\"\r\n":  {{"a", "b"}, {"x\r\ny", "\r"}},
		"a\n\"x\n\n\r\n\"\n":            {{"a"}, {"x\n\n\r\n"}},
		"a,b\n\n\r\nc,":                 {{"a", "b"}, {"c", ""}},
		"\na\n\nb\r\n\r\n":              {{"a"}, {""}, {"b"}, {""}},
		"\"a\"\"\",\"\"\n\" b \", c \n": {{`a"`, ""}, {" b ", " c "}},
		"a\n\"x\r\"":                    {{"a"}, {"x\r"}},
		strings.Repeat("x", 9000) + "\n\"" + strings.Repeat("y\r\n", 9000) + "\"\n": {{strings.Repeat("x", 9000)}, {strings.Repeat("y\r\n", 9000)}},
	} {
		if got, err := rows(text, ','); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%.40q: %.80q, %v, want %.80q", text, got, err, want)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]csv.ParseError{
		"a\rb\rc\r":     {StartLine: 1, Line: 1, Column: 2, Err: csvtext.ErrReturn},
		"a\r":           {StartLine: 1, Line: 1, Column: 2, Err: csvtext.ErrReturn},
		"a,b\nc,d\re\n": {StartLine: 2, Line: 2, Column: 4, Err: csvtext.ErrReturn},
		"\"a\"\r\"b\"":  {StartLine: 1, Line: 1, Column: 4, Err: csvtext.ErrReturn},
		"a,b\n\nx\"y,1": {StartLine: 3, Line: 3, Column: 2, Err: csv.ErrBareQuote},
		"\"a\nb\"c,1":   {StartLine: 1, Line: 2, Column: 2, Err: csv.ErrQuote},
		"\"a\nb,":       {StartLine: 1, Line: 2, Column: 3, Err: csv.ErrQuote},
		"a,b\nc\n":      {StartLine: 2, Line: 2, Column: 1, Err: csvtext.FieldsError{Has: 1, Needs: 2}},
	} {
		_, err := rows(text, ',')
		if got, ok := errors.AsType[*csv.ParseError](err); !ok || *got != want {
			t.Errorf("%q: %v, want %v", text, err, &want)
		}
	}
	broken := csvtext.NewReader(io.MultiReader(strings.NewReader("a\n\"b"), errReader{}))
	if _, err := broken.Read(); err != nil {
		t.Error(err)
	}
	if _, err := broken.Read(); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

func TestPlaces(t *testing.T) {
	r := csvtext.NewReader(strings.NewReader("a,b,c\r\n\r\n\"x\r\ny\",\"\",z\n1,2,3"))
	var got []string
	for {
		from := r.InputOffset()
		row, err := r.Read()
		if err != nil {
			break
		}
		for i := range row {
			line, column := r.FieldPos(i)
			got = append(got, fmt.Sprint(from, " ", line, ":", column))
		}
	}
	want := []string{"0 1:1", "0 1:3", "0 1:5", "7 3:1", "7 4:4", "7 4:7", "21 5:1", "21 5:3", "21 5:5"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatIsWrittenComesBack checks that fields survive byte for byte, and that the output
// equals that of encoding/csv where its output survives.
func TestWhatIsWrittenComesBack(t *testing.T) {
	field := rapid.StringOf(rapid.RuneFrom([]rune("ab,;\"\r\n\t \\.\ufeffé\x00")))
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "comma")
		width := rapid.IntRange(1, 4).Draw(t, "width")
		want := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 1, 5).Draw(t, "rows")
		var text []byte
		for _, row := range want {
			text = csvtext.Append(text, row, comma)
		}
		if bytes.HasPrefix(text, []byte("\ufeff")) {
			t.Fatalf("%q begins with a byte order mark", text)
		}
		got, err := rows(string(text), comma)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q, %v", want, got, err)
		}
		for _, row := range want {
			var b bytes.Buffer
			w := csv.NewWriter(&b)
			w.Comma = comma
			_ = w.Write(row)
			w.Flush()
			plain := width > 1 || row[0] != ""
			if mine := csvtext.Append(nil, row, comma); plain && !strings.Contains(strings.Join(row, ""), "\ufeff") && !bytes.Equal(mine, b.Bytes()) {
				t.Fatalf("%q is written as %q, and by encoding/csv as %q", row, mine, b.Bytes())
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("some text,1234,0.5,\"quoted, too\"\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if all, err := rows(text, ','); err != nil || len(all) != 1000 {
			b.Fatal(err)
		}
	}
}
