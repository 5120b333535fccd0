package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A pyIndex has the declarations of the Python package.
type pyIndex struct {
	exported map[string]bool            // from larder itself, modules included
	members  map[string]map[string]bool // of classes
	bases    map[string][]string
	imported map[string]bool // external modules, and ours
}

var (
	pyExported = regexp.MustCompile(`(?m)^    "(\w+)",$`)
	pyLine     = regexp.MustCompile(`^( *)(?:class (\w+)(?:\[.*?\])?(?:\((.*)\))?:|(?:async )?def (\w+)|(\w+)(?::| = ))`)
	pyImport   = regexp.MustCompile(`(?m)^ *(?:import|from) (\w+)`)
	pySelf     = regexp.MustCompile(`\bself\.(\w+)`)
)

func indexPython(t *testing.T) *pyIndex {
	t.Helper()
	x := &pyIndex{map[string]bool{"zip": true}, map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}}
	for _, m := range pyExported.FindAllStringSubmatch(read(t, "../python/src/larder/__init__.py"), -1) {
		x.exported[m[1]] = true
	}
	for _, pattern := range []string{"*.py", "*/__init__.py", "*/*.py", "*/*/*.py"} {
		files, err := filepath.Glob("../python/src/larder/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".py"); pattern == "*.py" {
				x.exported[name] = true
			} else if name == "__init__" {
				x.exported[filepath.Base(filepath.Dir(file))] = true
			}
			x.file(read(t, file))
		}
	}
	walk(t, ".py", func(_, text string) {
		for _, m := range pyImport.FindAllStringSubmatch(text, -1) {
			x.imported[m[1]] = true
		}
	})
	return x
}

// file adds the classes of a file, by the indentation of its lines.
func (x *pyIndex) file(text string) {
	class := ""
	for line := range strings.Lines(text) {
		if m := pyLine.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "" && m[2] != "":
				class = m[2]
				add(x.members, class, "__init__")
				for base := range strings.SplitSeq(m[3], ",") {
					base, _, _ = strings.Cut(strings.TrimSpace(base), "[")
					x.bases[class] = append(x.bases[class], base[strings.LastIndex(base, ".")+1:])
				}
			case m[1] == "":
				class = ""
			case class != "" && len(m[1]) == 4:
				add(x.members, class, m[4]+m[5])
			}
		}
		for _, m := range pySelf.FindAllStringSubmatch(line, -1) {
			if class != "" {
				add(x.members, class, m[1])
			}
		}
	}
}

// has reports whether a class has the member, or a base class may have it.
func (x *pyIndex) has(class, member string) bool {
	if x.members[class] == nil || x.members[class][member] {
		return true
	}
	for _, base := range x.bases[class] {
		if x.members[base] != nil && x.has(base, member) {
			return true
		}
	}
	return false
}

var pyName = regexp.MustCompile(`(?:^|[^\w.])(larder\.)?([A-Za-z]\w*)((?:\.[a-z_]\w*)*)`)

// TestNamedPythonExists checks that names on pages, larder.name or Class.member of a class
// of the package, are declared.
func TestNamedPythonExists(t *testing.T) {
	goes, x := indexGo(t), indexPython(t)
	for _, p := range everyPage(t) {
		for _, par := range p.paragraphs() {
			for _, span := range par.spans {
				if strings.HasSuffix(span, ".go") {
					continue // a file
				}
				for _, m := range pyName.FindAllStringSubmatch(span, -1) {
					if m[1] != "" && !x.exported[m[2]] && !goes.packages["larder"][m[2]] && !goes.hasPrefix("larder", m[2]) && !goes.literals["larder."+m[2]] {
						t.Errorf("%s:%d: `%s`: larder has no %s", p.name, par.line, span, m[2])
					}
					if members := strings.Split(m[3], "."); len(members) > 1 && !x.has(m[2], members[1]) && !goes.has(m[2], members[1]) {
						t.Errorf("%s:%d: `%s`: class %s has no %s", p.name, par.line, span, m[2], members[1])
					}
				}
			}
		}
	}
}
