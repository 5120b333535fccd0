package docs_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A goIndex has the declarations of the repository's Go code, tests included.
type goIndex struct {
	packages map[string]map[string]bool // names by package name
	members  map[string]map[string]bool // fields and methods by type name
	embedded map[string][]string
	literals map[string]bool // true if code outside of tests has it
	imported map[string]bool // external packages by the last elements of their paths
}

var goIndexed *goIndex

// indexGo reads all files, once.
func indexGo(t *testing.T) *goIndex {
	t.Helper()
	if goIndexed != nil {
		return goIndexed
	}
	x := &goIndex{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}, map[string]bool{}}
	walk(t, ".go", func(path, text string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		x.file(f, filepath.Base(filepath.Dir(path)))
		x.strings(f, strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../bench/"))
	})
	goIndexed = x
	return x
}

// file adds what a file declares.
func (x *goIndex) file(f *ast.File, dir string) {
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	for _, i := range f.Imports {
		if path := strings.Trim(i.Path.Value, `"`); !strings.HasPrefix(path, "github.com/larder-data/") {
			x.imported[path[strings.LastIndex(path, "/")+1:]] = true
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(x.packages, pkg, d.Name.Name)
				if pkg == "main" && strings.HasPrefix(d.Name.Name, "Test") {
					add(x.packages, dir, d.Name.Name) // the package names of tests of programs
				}
			} else if t := typeName(d.Recv.List[0].Type); t != "" {
				add(x.members, t, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(x.packages, pkg, name.Name)
					}
				case *ast.TypeSpec:
					add(x.packages, pkg, spec.Name.Name)
					x.typ(spec.Name.Name, spec.Type)
				}
			}
		}
	}
}

// strings adds the strings of a file. It counts as a test if marked so, or if it imports
// packages for tests.
func (x *goIndex) strings(f *ast.File, test bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				test = test || s == "testing"
				x.literals[s] = x.literals[s] || !test
			}
		}
		return true
	})
}

// typ adds the declared fields and methods of a type.
func (x *goIndex) typ(name string, t ast.Expr) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		x.embedded[name] = append(x.embedded[name], typeName(t))
		return
	}
	for _, f := range fields.List {
		if f.Names == nil {
			x.embedded[name] = append(x.embedded[name], typeName(f.Type))
			add(x.members, name, typeName(f.Type))
		}
		for _, n := range f.Names {
			add(x.members, name, n.Name)
		}
	}
}

// typeName returns the last name of a type, without its package.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	}
	return ""
}

func add(sets map[string]map[string]bool, name, element string) {
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][element] = true
}

// has reports whether some type of the name has the member.
func (x *goIndex) has(typ, member string) bool {
	if x.members[typ][member] {
		return true
	}
	for _, e := range x.embedded[typ] {
		if e != typ && x.has(e, member) {
			return true
		}
	}
	return false
}

var goName = regexp.MustCompile(`(?:^|[^\w.$/{-])([a-z]\w*|[A-Z]\w*[a-z]\w*)((?:\.[A-Z]\w*)+)(\.\.\.)?`)

// TestNamedGoExists checks that Go names on pages, PACKAGE.Name or Type.Member, are
// declared. It skips external packages.
func TestNamedGoExists(t *testing.T) {
	x, py := indexGo(t), indexPython(t)
	for _, p := range everyPage(t) {
		for _, par := range p.paragraphs() {
			for _, span := range par.spans {
				for _, m := range goName.FindAllStringSubmatch(span, -1) {
					chain := strings.Split(m[2][1:], ".")
					if m[1] == "larder" && py.exported[chain[0]] || py.imported[m[1]] || m[3] != "" && x.hasPrefix(m[1], chain[0]) {
						continue
					}
					if why := x.missing(m[1], chain); why != "" {
						t.Errorf("%s:%d: `%s`: %s", p.name, par.line, span, why)
					}
				}
			}
		}
	}
}

// missing returns the undeclared part of a chain of names.
func (x *goIndex) missing(root string, chain []string) string {
	typ := root
	switch {
	case x.packages[root][chain[0]]:
		typ, chain = chain[0], chain[1:]
	case x.foreign(root):
		return ""
	case x.packages[root] != nil && x.members[root] == nil:
		return "package " + root + " has no " + chain[0]
	}
	for _, name := range chain {
		if !x.has(typ, name) {
			return "no type " + typ + " has " + name
		}
		typ = name
	}
	return ""
}

func (x *goIndex) hasPrefix(pkg, prefix string) bool {
	for name := range x.packages[pkg] {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// foreign reports whether an imported external package has the name.
func (x *goIndex) foreign(root string) bool {
	return x.imported[root] || there(filepath.Join(build.Default.GOROOT, "src", root))
}
