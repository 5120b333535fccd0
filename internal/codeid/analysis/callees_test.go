package analysis

import (
	"strings"
	"testing"
)

// TestWhatIsPassedOutOfSight checks that the arguments of a function that other packages can call are known only if all
// packages register.
func TestWhatIsPassedOutOfSight(t *testing.T) {
	const head = "package calc\n\nimport \"embed\"\n\n//go:embed *.go\nvar files embed.FS\n\ntype Row struct{ N int }\n\nvar v = &Row{1}\n\n"
	for _, c := range []struct{ name, text, refused string }{
		{"functions that are passed", `func See(f func(*Row)) { see(v, f) }; func see(r *Row, f func(*Row)) { f(r) }; func Area() int { See(func(*Row) {}); return v.N }`, "a function that is a value"},
		{"functions that are passed to a method", `type Rows []*Row; func (l Rows) See(f func(*Row)) { f(l[0]) }; func Area() int { Rows{v}.See(func(*Row) {}); return v.N }`, "a function that is a value"},
		{"containers", `func Put(seen map[*Row]bool) { seen[v] = true }; func Area() int { Put(map[*Row]bool{}); return v.N }`, "what holds the container"},
		{"functions that others cannot call", `func see(f func(*Row)) { f(v) }; func Area() int { return area() }; func area() int { return v.N }; var _ = func() int { see(func(*Row) {}); return 1 }()`, ""},
	} {
		for _, unknown := range []string{"", "x/hidden"} {
			p := parsedText(t, map[string]string{"x/calc": head + c.text + "\n"})
			p.unknown = unknown
			_, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
			switch {
			case unknown == "" || c.refused == "":
				if err != nil {
					t.Errorf("%s, %q not registered: %v", c.name, unknown, err)
				}
			case err == nil || !strings.Contains(err.Error(), c.refused):
				t.Errorf("%s, %q not registered: refused without the words %q: %v", c.name, unknown, c.refused, err)
			}
		}
	}
}
