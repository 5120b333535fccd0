package analysis

import (
	"strings"
	"testing"
)

// of identifies f of a package that is written without its imports.
func of(t *testing.T, text string) (*Closure, error) {
	t.Helper()
	whole := withImports("package calc\n\n//go:embed *.go\nvar files embed.FS\n\n" + text)
	return parsedText(t, map[string]string{"x/calc": whole}).identify(Function{Package: "x/calc", Symbol: "f"}, Declared{})
}

// TestLibraryVariables checks writes to variables of the standard library. Writes during initialization, in any way, are
// part of the functions that depend on them; later writes have those refused.
func TestLibraryVariables(t *testing.T) {
	for name, c := range map[string]struct{ write, reads string }{
		"directly":                  {`xml.HTMLEntity["amp"] = "@"`, `func f(int) string { return xml.HTMLEntity["amp"] }`},
		"by a local copy":           {`m := xml.HTMLEntity; m["amp"] = "@"`, `func f(int) string { return xml.HTMLEntity["amp"] }`},
		"by a slice":                {`x := net.IPv4allrouter; x[0] = '@'`, `func f(int) string { return net.IPv4allrouter.String() }`},
		"by a pointer's field":      {`w := image.White; w.C = color.Gray{'@'}`, `func f(int) string { return fmt.Sprint(image.White.C) }`},
		"by a parameter":            {`set(palette.Plan9, '@')`, `func set(p color.Palette, n uint8) { p[0] = color.Gray{n} }; func f(int) string { return fmt.Sprint(palette.Plan9[0]) }`},
		"by append":                 {`_ = append(asn1.NullBytes[:1], '@')`, `func f(int) string { return fmt.Sprint(asn1.NullBytes) }`},
		"by copy":                   {`ip := net.IPv4bcast; copy(ip, []byte{'@'})`, `func f(int) string { return net.IPv4bcast.String() }`},
		"by a built-in function":    {`delete(unicode.FoldScript, "@")`, `func f(int) string { return fmt.Sprint(len(unicode.FoldScript)) }`},
		"what another package uses": {`*unicode.Greek = unicode.RangeTable{R16: []unicode.Range16{{Lo: '@', Hi: '@', Stride: 1}}}`, "func f(int) bool { return regexp.MustCompile(`\\p{Greek}`).MatchString(\"a\") }"},
		"a part of one":             {`unicode.FoldScript["Common"].R16 = []unicode.Range16{{Lo: '@', Hi: '@', Stride: 1}}`, "func f(int) bool { return regexp.MustCompile(`(?i)\\p{Common}`).MatchString(\"a\") }"},
		"an encoding as a whole":    {`w := base64.StdEncoding; *w = *base64.NewEncoding("@BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")`, `func f(int) string { return base64.StdEncoding.EncodeToString([]byte("a")) }`},
		"by a method":               {`types.Universe.Insert(types.NewTypeName(0, nil, "@", nil))`, `func f(int) string { return fmt.Sprint(types.Universe.Names()) }`},
	} {
		t.Run(name, func(t *testing.T) {
			one, err1 := of(t, "func init() { "+c.write+" }; "+c.reads)
			two, err2 := of(t, "func init() { "+strings.Replace(c.write, "@", "#", 1)+" }; "+c.reads)
			if err1 == nil && err2 == nil && one.ID == two.ID {
				t.Error("an edit of what init writes is not seen")
			}
			if _, err := of(t, "func Tune() { "+c.write+" }; var tune = Tune; "+c.reads); err == nil {
				t.Error("what may write while the program runs is not seen")
			}
			if _, err := of(t, c.reads); err != nil {
				t.Errorf("without a write: %v", err)
			}
		})
	}
}

// TestLibraryVariablesThatAreUsed checks that using variables of the standard library as usual refuses nothing.
func TestLibraryVariablesThatAreUsed(t *testing.T) {
	for _, use := range []string{
		`fmt.Fprintln(os.Stdout, io.Discard, os.Args)`, `io.Copy(io.Discard, strings.NewReader("a"))`, `log.SetOutput(os.Stderr)`,
		`var enc = base64.StdEncoding; _ = enc.EncodeToString(nil)`, `_ = unicode.Is(unicode.Latin, 'a')`, `tables := []*unicode.RangeTable{unicode.Latin, unicode.Greek}; _ = unicode.In('a', tables...)`,
		`draw.Draw(image.NewGray(image.Rect(0, 0, 1, 1)), image.Rect(0, 0, 1, 1), image.White, image.Point{}, draw.Src)`, `_ = color.Palette(palette.Plan9).Convert(color.Black)`,
		`_ = net.IPv4zero.Equal(net.IPv4bcast)`, `_ = errors.Is(io.EOF, io.ErrUnexpectedEOF)`, `_ = time.Now().In(time.UTC)`, `http.DefaultClient.Timeout = 1`, `_ = xml.HTMLEntity["amp"]`,
		`_ = binary.LittleEndian.Uint16([]byte{1, 2})`, `slog.New(slog.DiscardHandler).Info("a")`, `s := []os.Signal{os.Interrupt, os.Kill}; _ = s`,
	} {
		c, err := of(t, "func main() { "+use+" }; func init() { "+use+" }\nfunc f(n int) string { return fmt.Sprint(strings.Repeat(\"a\", n), image.Rect(0, 0, 1, 1), regexp.MustCompile(\"a\")) }")
		if err != nil || c.Kind != Precise {
			t.Errorf("%s: %v %v", use, c, err)
		}
	}
}
