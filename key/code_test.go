package key

import "testing"

// TestBuildIDsOfGo checks that an ID set by a flag or another build system does not identify the code.
func TestBuildIDsOfGo(t *testing.T) {
	const digest = "AbCdEfGhIjKlMnOpQrSt"
	for id, want := range map[string]bool{
		digest + "/" + digest + "/" + digest + "/" + digest: true,
		"redacted":            false,
		"":                    false,
		"a/b/c/d":             false,
		digest + "/" + digest: false,
		digest + "/" + digest + "/" + digest + "/" + "AbCdEfGhIjKlMnOpQrS*": false,
	} {
		if ofGo(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

// Versions belong to the package that declares them.
func TestVersionsArePackages(t *testing.T) {
	v := Version("3")
	if v.Package != "github.com/larder-data/larder/key" {
		t.Errorf("a version of package %q", v.Package)
	}
	if v != VersionOf("github.com/larder-data/larder/key", "3") {
		t.Error("the same version, by name, is another one")
	}
	op := func(c Code) Key {
		o, err := NewOp("f", c)
		if err != nil {
			t.Fatal(err)
		}
		return o.Action().Key()
	}
	if op(v) == op(VersionOf("example.com/other", "3")) {
		t.Error("two packages share a key")
	}
}
