package analysis

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/codeid/std"
)

// TestOrdinaryFunctions checks that ordinary functions are identified by their source. Each case of
// testdata/ordinary.txt is a package with a pure function f or F.
func TestOrdinaryFunctions(t *testing.T) {
	b, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(b), "=== ")[1:]
	for _, c := range cases {
		name, text, _ := strings.Cut(c, "\n")
		symbol := "f"
		if !strings.Contains(text, "func f(") {
			symbol = "F"
		}
		imports := ""
		for strings.HasPrefix(text, "import ") {
			line, rest, _ := strings.Cut(text, "\n")
			imports, text = imports+line+"\n", rest
		}
		whole := withImports("package calc\n" + imports + "\n//go:embed *.go\nvar files embed.FS\n\n" + text)
		closure, err := parsedText(t, map[string]string{"x/calc": whole}).identify(Function{Package: "x/calc", Symbol: symbol}, Declared{})
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case closure.Kind != Precise:
			t.Errorf("%s is identified by the whole program: %q", name, closure.Doubts)
		}
	}
	if len(cases) < 120 {
		t.Errorf("%d functions", len(cases))
	}
}

var qualifier = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]`)

// libraryPaths are the import paths that package names in the cases refer to, also where several packages have one name.
var libraryPaths = strings.Fields(`bufio bytes cmp compress/flate compress/gzip container/heap container/list container/ring context crypto/aes crypto/cipher crypto/hmac
crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512 embed encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex encoding/json encoding/xml errors expvar fmt
go/ast go/format go/parser go/token hash hash/adler32 hash/crc32 hash/fnv html image image/color image/color/palette image/draw image/gif image/jpeg image/png index/suffixarray io io/fs iter
log log/slog maps math math/big math/bits math/cmplx math/rand mime net/mail net/netip net/url os path path/filepath reflect regexp regexp/syntax slices sort strconv strings
sync sync/atomic testing/fstest text/scanner text/tabwriter text/template time unicode unicode/utf16 unicode/utf8 unique archive/zip archive/tar bytes runtime encoding encoding/ascii85
encoding/asn1 encoding/base32 encoding/pem go/types net/rpc net net/http net/textproto compress/zlib compress/lzw compress/bzip2`)

// withImports adds the imports that a file needs.
func withImports(text string) string {
	named := map[string]string{}
	for _, p := range libraryPaths {
		if name := path.Base(p); std.Has(p) && named[name] == "" {
			named[name] = p
		}
	}
	imports := "\nimport \"embed\"\n"
	done := map[string]bool{"embed": true}
	for _, m := range qualifier.FindAllStringSubmatch(text, -1) {
		p := named[m[1]]
		if p == "" || done[m[1]] || strings.Contains(text, fmt.Sprintf("%q\n", p)) {
			continue
		}
		done[m[1]] = true
		imports += fmt.Sprintf("import %q\n", p)
	}
	return strings.Replace(text, "\n", "\n"+imports, 1)
}
