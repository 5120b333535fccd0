package display

import "testing"

func TestNearest(t *testing.T) {
	valid := []string{"repeat", "reverse", "with", "sp"}
	for name, want := range map[string]string{"repaet": "repeat", "wiht": "with", "nope": "", "x": "", "": ""} {
		if got := Nearest(name, valid); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
