package analysis

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/internal/values/executable"
)

func init() { executable.TellNamesakes(hasNamesake) }

// hasNamesake reports whether a registered package declares a type in a function, and
// another one of the same name in another function or at package level. Their values look
// equal, even to keys, but the types have different methods, and code can distinguish them.
func hasNamesake(path, name string) bool {
	p := known(runtimePath(path))
	if p == nil {
		return false
	}
	name, _, _ = strings.Cut(name, "[")
	return p.names.has(p, name)
}

// namesakes records for names of types whether there are several.
type namesakes struct {
	sync.Mutex
	known map[string]bool
}

func (t *namesakes) has(p *registration, name string) bool {
	t.Lock()
	defer t.Unlock()
	has, ok := t.known[name]
	if !ok {
		has = p.declaresNamesakes(name)
		if t.known == nil {
			t.known = map[string]bool{}
		}
		t.known[name] = has
	}
	return has
}

// declaresNamesakes looks up a name in the sources. Loading the package reports unreadable
// files.
func (p *registration) declaresNamesakes(name string) bool {
	direct := regexp.MustCompile(`\btype\s+` + regexp.QuoteMeta(name) + `\b`)
	var texts [][]byte
	declared, grouped := 0, false
	entries, _ := fs.ReadDir(p.files, ".")
	for _, e := range entries {
		file := e.Name()
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") && buildNow().tested != strings.TrimSuffix(p.path, testOf) {
			continue
		}
		text, err := fs.ReadFile(p.files, file)
		if err == nil && bytes.Contains(text, []byte(name)) {
			texts = append(texts, text)
			declared += len(direct.FindAllIndex(text, 2))
			grouped = grouped || groups.Match(text)
		}
	}
	if declared < 2 && !grouped { // most packages are parsed for another reason, if at all
		return false
	}
	outside, within := 0, 0
	for _, text := range texts {
		syntax, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		top := map[ast.Node]bool{}
		for _, d := range syntax.Decls {
			top[d] = true
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			g, ok := n.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				return true
			}
			for _, s := range g.Specs {
				switch {
				case s.(*ast.TypeSpec).Name.Name != name:
				case top[g]:
					outside = 1 // other files with that name are for other builds
				default:
					within++
				}
			}
			return true
		})
	}
	return within > 0 && within+outside > 1
}

// groups finds declarations of types other than "type NAME".
var groups = regexp.MustCompile(`\btype\s*[(/]`)

// namesakeIn returns a type within a function's type that cannot be distinguished from
// another one; nil if there is none.
func namesakeIn(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	if t.Name() != "" {
		if t.PkgPath() != "" && (executable.HasNamesake(t.PkgPath(), t.Name()) || strings.Contains(t.Name(), "·")) {
			return t
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Func:
		for in := range t.Ins() {
			if same := namesakeIn(in); same != nil {
				return same
			}
		}
		for out := range t.Outs() {
			if same := namesakeIn(out); same != nil {
				return same
			}
		}
	case reflect.Map:
		if same := namesakeIn(t.Key()); same != nil {
			return same
		}
		return namesakeIn(t.Elem())
	case reflect.Slice, reflect.Pointer, reflect.Array, reflect.Chan:
		return namesakeIn(t.Elem())
	}
	return nil
}

// showsNumber reports whether a generic instance makes types whose names contain a type
// declared in a function. The compiler numbers such types, depending on the code around
// them. For functions of the standard library, the number shows in their results.
func showsNumber(o types.Object, in types.Instance) bool {
	local := false
	for a := range in.TypeArgs.Types() {
		local = local || nameHas(a, isLocal)
	}
	f, ok := in.Type.(*types.Signature)
	if !local || !ok || o == nil || o.Pkg() == nil || !std.Has(o.Pkg().Path()) {
		return local
	}
	return nameHas(f.Results(), func(n *types.Named) bool {
		for a := range n.TypeArgs().Types() {
			if nameHas(a, isLocal) {
				return true
			}
		}
		return false
	})
}

// isLocal reports whether a type is declared in a function.
func isLocal(n *types.Named) bool {
	o := n.Origin().Obj()
	return o.Pkg() != nil && o.Parent() != o.Pkg().Scope()
}

// nameHas reports whether the name of a type contains a named type of some kind.
func nameHas(t types.Type, kind func(*types.Named) bool) bool {
	has := func(parts ...types.Type) bool {
		return slices.ContainsFunc(parts, func(p types.Type) bool { return nameHas(p, kind) })
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if kind(t) {
			return true
		}
		for a := range t.TypeArgs().Types() {
			if has(a) {
				return true
			}
		}
	case *types.Pointer:
		return has(t.Elem())
	case *types.Slice:
		return has(t.Elem())
	case *types.Array:
		return has(t.Elem())
	case *types.Chan:
		return has(t.Elem())
	case *types.Map:
		return has(t.Key(), t.Elem())
	case *types.Signature:
		return has(t.Params(), t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if has(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if has(f.Type()) {
				return true
			}
		}
	}
	return false
}
