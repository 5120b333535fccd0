package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A goIndex has what the Go code of the repository declares, tests included.
type goIndex struct {
	packages map[string]map[string]bool // the names of a package, by its own
	members  map[string]map[string]bool // the fields and methods of types, by their names
	embedded map[string][]string
	imported map[string]bool // last elements of paths of packages, also of others
}

// indexGo reads all files but those of the programs that tests are made of.
func indexGo(t *testing.T) *goIndex {
	t.Helper()
	x := &goIndex{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		x.file(f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *goIndex) file(f *ast.File) {
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	for _, i := range f.Imports {
		path := strings.Split(strings.Trim(i.Path.Value, `"`), "/")
		x.imported[path[len(path)-1]] = true
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(x.packages, pkg, d.Name.Name)
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

// typ adds the fields and the methods that a type is declared with.
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

// typeName is the last name of a type, without its package.
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

var goName = regexp.MustCompile(`(?:^|[^\w.$/{-])([a-z]\w*|[A-Z]\w*)((?:\.[A-Z]\w*)+)`)

// TestNamedGoExists: what the text of a page calls as Go does, PACKAGE.Name or
// Type.Member, is declared.
func TestNamedGoExists(t *testing.T) {
	x := indexGo(t)
	for _, p := range everyPage(t) {
		for _, par := range p.paragraphs() {
			for _, span := range par.spans {
				for _, m := range goName.FindAllStringSubmatch(span, -1) {
					chain := strings.Split(m[2][1:], ".")
					if why := x.missing(m[1], chain); why != "" {
						t.Errorf("%s:%d: `%s`: %s", p.name, par.line, span, why)
					}
				}
			}
		}
	}
}

// missing says what of a chain of names there is not.
func (x *goIndex) missing(root string, chain []string) string {
	typ := root
	if first := root[:1]; first == strings.ToLower(first) {
		switch {
		case x.packages[root] != nil && x.packages[root][chain[0]]:
			typ, chain = chain[0], chain[1:]
		case x.packages[root] != nil:
			return "package " + root + " has no " + chain[0]
		case x.imported[root]:
			return ""
		default:
			return "nothing here imports " + root
		}
	}
	for _, name := range chain {
		if !x.has(typ, name) {
			return "no type " + typ + " has " + name
		}
		typ = name
	}
	return ""
}

var _ = os.Args
