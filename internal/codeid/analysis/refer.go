package analysis

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sync"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/key"
)

// refs holds the direct references of one declaration.
type refs struct {
	resolveOnce sync.Once
	targets     []*decl             // named declarations, each once
	mentions    []types.Object      // named functions, variables and fields, each once
	touches     []types.Object      // those of mentions that are package variables and not only read
	dispatched  []string            // methods that may be called by name on any value that has them
	leaves      []leaf              // names of packages without sources
	stands      []string            // the meaning of each name, in order
	converts    map[types.Type]bool // types converted to interfaces, and the types in these
	letsIn      []types.Type        // interfaces to which values of unknown types are converted
	careful     []use               // of functions that need care
	careNamed   []*ast.Ident        // names of such functions
	telltales   []problem           // observations of the state of locks or of values of a context
	twinned     [][2]*types.Struct  // structs with pointers converted into each other
	unnamed     []*types.Struct     // structs without a name
	hidden      []hiddenCall        // of library methods that reveal their state
	overwrites  []types.Object      // harmless types with values that it overwrites
	cut         []types.Type        // elements of slices and arrays that are cut

	digest key.Digest

	examineOnce sync.Once
	problems    []problem
	files       []Part // embedded files
}

// A leaf is a name of a package identified only by its version.
type leaf struct {
	path, name string
	library    bool // of the standard library
	object     types.Object
	at         token.Pos
}

func (l leaf) full() string { return l.path + "." + l.name }

// A problem is a reason why source does not identify a function.
type problem struct {
	what   string
	at     string
	name   string // by which Options.Pure can declare it
	of     string // the package variable concerned, by which it can be declared as well
	refuse bool   // no code identity covers it; otherwise the whole program does
	opaque bool   // invisible code
	state  bool   // a variable that may change
	fix    string // if the whole program identifies it
}

// resolved computes the references of d on first use, in one pass.
func (d *decl) resolved() *refs {
	d.resolveOnce.Do(func() {
		r := newResolver(d)
		r.walk(d.node)
		if d.inherit != nil {
			r.walk(d.inherit)
		}
		d.converts = r.held
		d.digest = d.sum(d.stands)
	})
	return &d.refs
}

// examined finds the problems of d, on first use.
func (d *decl) examined() *refs {
	r := d.resolved()
	d.examineOnce.Do(d.find)
	return r
}

// find finds the problems of a declaration itself.
func (d *decl) find() {
	k := d.file.pkg
	doubt := func(p problem) { d.problems = append(d.problems, p) }
	if len(d.embeds) > 0 {
		d.embedded()
	}
	if d.version != "" {
		return // its author is responsible
	}
	if f := d.function(); f != nil && f.Body == nil && !d.linked {
		doubt(problem{what: "a body that is not Go (assembly)", at: d.at(f.Pos()), name: d.name(), fix: "a version for it: //larder:version 1"})
	}
	if d.file.loops && d.outlives() {
		doubt(problem{what: "a loop variable that is used after its turn, in a module of which the version of the language is not known", at: d.at(d.node.Pos()), name: d.name(),
			fix: "take the variable into one of the loop's own"})
	}
	if d.linked {
		doubt(problem{what: "a linkname", at: d.at(d.node.Pos()), name: d.name(), refuse: true, opaque: true})
	}
	if len(k.sources) == 0 {
		doubt(problem{what: "a package that does not embed all its sources", at: d.at(d.node.Pos()), name: d.name(), fix: "//go:embed *.go"})
	}
	for _, path := range d.file.dots {
		if k.program.packages[path] == nil && !std.Has(path) {
			doubt(problem{what: "names from a dot import of a package that does not register its sources", at: d.file.at(d.file.syntax.Pos()), name: path, fix: "import it by name"})
		}
	}
	if d.file.doubt != nil {
		doubt(*d.file.doubt)
	}
	if t := d.trouble(); t != nil {
		doubt(*t)
	}
	d.problems = append(append(d.problems, d.careless()...), d.telltales...)
	if d.kind == "var" && k.program.build.trimmed && d.settable() {
		doubt(problem{what: "a string that the linker can set, which -trimpath leaves no trace of", at: d.at(d.node.Pos()), name: d.name(), fix: "build without -trimpath, or make it a constant"})
	}
}

// settable reports whether the linker's -X can set the variable: it is a string without a
// value or with a constant one.
func (d *decl) settable() bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok {
		return false
	}
	for _, id := range s.Names {
		if o := d.info().Defs[id]; o != nil {
			b, ok := o.Type().Underlying().(*types.Basic)
			if ok && b.Kind() == types.String && !slices.ContainsFunc(s.Values, func(e ast.Expr) bool { return d.info().Types[e].Value == nil }) {
				return true
			}
		}
	}
	return false
}

// embedded includes the files of a //go:embed line.
func (d *decl) embedded() {
	k := d.file.pkg
	for _, pattern := range d.embeds {
		if !k.registers(pattern) {
			d.problems = append(d.problems, problem{
				what: fmt.Sprintf("embedded files that are not registered (%s)", pattern), at: d.at(d.node.Pos()), name: d.name(),
				fix: "the same pattern in the //go:embed line of the sources",
			})
			return
		}
	}
	files, err := k.embeddedFiles(d.embeds)
	d.files = files
	if err != nil {
		d.problems = append(d.problems, problem{what: "embedded files that cannot be read: " + err.Error(), at: d.at(d.node.Pos()), name: d.name()})
	}
}

type resolver struct {
	converter
	decl *decl
	seen map[types.Object]bool // mentions as a set, if there are many
	text *ast.Ident            // of a call that might read a file, but does not
}

func newResolver(d *decl) *resolver {
	return &resolver{decl: d, converter: converter{p: d.file.pkg.program, info: d.info(), held: map[types.Type]bool{}, unknown: &d.letsIn}}
}

// parsesText reports whether a call of parser.ParseFile passes the text to parse: it reads
// a file only if that is nil.
func parsesText(info *types.Info, f *types.Func, call *ast.CallExpr) bool {
	if f.Name() != "ParseFile" || f.FullName() != "go/parser.ParseFile" || len(call.Args) != 4 {
		return false
	}
	if _, ok := call.Fun.(*ast.SelectorExpr); !ok {
		return false
	}
	of := info.Types[call.Args[2]]
	return of.Type != nil && !of.IsNil() && !types.IsInterface(of.Type)
}

// walk visits each node once. It skips the body of a boundary.
func (r *resolver) walk(n ast.Node) {
	var hidden *ast.BlockStmt
	if f, ok := n.(*ast.FuncDecl); ok && r.decl.version != "" {
		hidden = f.Body
	}
	walk(n, func(stack []ast.Node) bool {
		r.conversion(stack)
		if hidden == nil || !within(stack, hidden) {
			r.node(stack)
		}
		return true
	})
}

// node records the references of the last of the nodes.
func (r *resolver) node(stack []ast.Node) {
	if what := cmp.Or(r.lockCopy(stack), r.contextShown(stack)); what != "" {
		r.decl.telltales = append(r.decl.telltales, problem{what: what, at: r.decl.at(stack[len(stack)-1].Pos()), name: r.decl.name(), refuse: true, state: true})
	}
	switch n := stack[len(stack)-1].(type) {
	case *ast.CallExpr:
		r.call(n, stack)
		r.twin(n)
	case *ast.StructType:
		if s, ok := r.info.TypeOf(n).(*types.Struct); ok {
			if _, named := stack[max(len(stack)-2, 0)].(*ast.TypeSpec); !named {
				r.decl.unnamed = append(r.decl.unnamed, s)
			}
		}
	case *ast.InterfaceType:
		r.interfaces(r.info.Types[n].Type)
	case *ast.SelectorExpr:
		r.selector(n)
		for _, field := range implicit(r.info.Selections[n]) {
			r.mention(field)
		}
	case *ast.SliceExpr:
		r.cuts(n)
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			star, ok := ast.Unparen(to).(*ast.StarExpr)
			if !ok {
				continue
			}
			if of, ok := types.Unalias(r.info.TypeOf(star)).(*types.Named); ok && harmless(of) {
				r.decl.overwrites = append(r.decl.overwrites, of.Obj())
			}
		}
	case *ast.Ident:
		o := r.info.Uses[n]
		r.object(o, n)
		if in, ok := r.info.Instances[n]; ok && showsNumber(o, in) {
			r.decl.telltales = append(r.decl.telltales, problem{
				what: "a type argument that is declared in a function, of which the number that the compiler gives it shows in names", at: r.decl.at(n.Pos()), name: r.decl.name(),
				fix: "the type declared outside of functions",
			})
		}
		if v, ok := o.(*types.Var); ok && isPackageVariable(v) && !slices.Contains(r.decl.touches, o) && !plainRead(r.info, stack) {
			r.decl.touches = append(r.decl.touches, o)
		}
	}
}

func isPackageVariable(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// plainRead reports whether a variable, the last of the nodes, is only read as a number,
// string or boolean.
func plainRead(info *types.Info, stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		e, ok := stack[i].(ast.Expr)
		if !ok {
			return false
		}
		switch p := stack[i-1].(type) {
		case *ast.SelectorExpr:
			if p.Sel != e || info.Selections[p] != nil { // it is not that of another package
				return false
			}
		case *ast.IndexExpr:
			if p.X != e {
				return isPlain(info.TypeOf(e))
			}
		case *ast.BinaryExpr, *ast.ReturnStmt:
			return isPlain(info.TypeOf(e))
		case *ast.AssignStmt:
			return slices.Contains(p.Rhs, e) && isPlain(info.TypeOf(e))
		case *ast.CallExpr:
			return p.Fun != e && (isPlain(info.TypeOf(e)) || isLength(info, p))
		case *ast.RangeStmt:
			return p.X == e && p.Tok != token.ASSIGN && isPlain(elementOf(info.TypeOf(e)))
		default:
			return false
		}
	}
	return false
}

// isPlain reports whether values of a type are numbers, strings or booleans.
func isPlain(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() != types.UnsafePointer && b.Kind() != types.Invalid && b.Kind() != types.UntypedNil
}

// elementOf returns the element type of a list, or nil.
func elementOf(t types.Type) types.Type {
	switch u := under(t).(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	}
	return nil
}

// isLength reports whether a call is len or cap.
func isLength(info *types.Info, call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && (b.Name() == "len" || b.Name() == "cap")
}

// cuts records the elements of cut slices whose parts can share memory: not those without
// capacity beyond their end.
func (r *resolver) cuts(n *ast.SliceExpr) {
	of := core(deref(r.info.TypeOf(n.X)))
	if _, isArray := of.(*types.Array); n.High == nil && !isArray || clipped(n) {
		return
	}
	if elem := elementOf(of); elem != nil && !flat(elem, 0) {
		r.decl.cut = append(r.decl.cut, elem)
	}
}

// call records calls that need a check.
func (r *resolver) call(n *ast.CallExpr, stack []ast.Node) {
	f := staticCallee(r.info, n)
	if f == nil || f.Pkg() == nil {
		return
	}
	if parsesText(r.info, f, n) {
		r.text = n.Fun.(*ast.SelectorExpr).Sel
	}
	if wantsCare(f) {
		r.decl.careful = append(r.decl.careful, use{f, n, slices.Clone(stack)})
	}
}

// selector resolves x.Sel if the type of x is unknown.
func (r *resolver) selector(n *ast.SelectorExpr) {
	if path := r.decl.unknownPackage(n); path != "" {
		r.decl.stands = append(r.decl.stands, path)
		r.decl.leaves = append(r.decl.leaves, leaf{path: path, name: n.Sel.Name, at: n.Pos()})
	} else if r.info.Uses[n.Sel] == nil {
		r.decl.dispatched = append(r.decl.dispatched, n.Sel.Name)
	}
}

// object records the meaning of a name.
func (r *resolver) object(o types.Object, id *ast.Ident) {
	if o == nil {
		return
	}
	switch x := o.(type) {
	case *types.Func:
		o = x.Origin()
	case *types.Var:
		o = x.Origin()
		if x.IsField() {
			r.mention(o)
			return
		}
	case *types.TypeName:
		r.interfaces(x.Type())
	case *types.Builtin:
		if o.Pkg() != types.Unsafe {
			return
		}
		switch o.Name() {
		case "Sizeof", "Alignof", "Offsetof": // constants
			return
		}
	case *types.Const:
	default:
		return
	}
	if o.Pkg() == nil {
		if f, ok := o.(*types.Func); ok { // error's Error
			r.decl.dispatched = append(r.decl.dispatched, f.Name())
		}
		return
	}
	f, isFunc := o.(*types.Func)
	method := isFunc && f.Signature().Recv() != nil
	if !method && o.Parent() != o.Pkg().Scope() {
		return // local
	}
	if method && types.IsInterface(f.Signature().Recv().Type()) {
		r.decl.dispatched = append(r.decl.dispatched, f.Name())
		if std.Has(o.Pkg().Path()) {
			r.leaf(o, id)
		}
		if len(std.Revealing(f.Name())) > 0 {
			r.decl.hidden = append(r.decl.hidden, hiddenCall{f, id.Pos()})
		}
		return
	}
	if isFunc && wantsCare(f) {
		r.decl.careNamed = append(r.decl.careNamed, id)
	}
	r.mention(o)
	k := r.p.packages[o.Pkg().Path()]
	if k == nil || k.engine {
		r.leaf(o, id)
		return
	}
	if d := k.declared[o]; d != nil {
		r.decl.stands = append(r.decl.stands, d.name())
		if d != r.decl && !slices.Contains(r.decl.targets, d) {
			r.decl.targets = append(r.decl.targets, d)
		}
	}
}

// leaf records a name of a package without sources.
func (r *resolver) leaf(o types.Object, id *ast.Ident) {
	path := o.Pkg().Path()
	l := leaf{path: path, name: o.Name(), library: std.Has(path), object: o, at: id.Pos()}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		l.name = receiverName(f) + "." + f.Name()
	}
	r.decl.stands = append(r.decl.stands, l.full())
	if id == r.text {
		return
	}
	switch o.(type) {
	case *types.Func, *types.Var:
		r.decl.leaves = append(r.decl.leaves, l)
	default:
		if !l.library || path == "unsafe" {
			r.decl.leaves = append(r.decl.leaves, l)
		}
	}
	if f, ok := o.(*types.Func); ok {
		for v := range f.Signature().Params().Variables() {
			r.interfaces(v.Type())
		}
	}
}

// receiverName returns the name of the receiver type of a method.
func receiverName(f *types.Func) string {
	t := types.Unalias(f.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// interfaces records the methods of an interface: it may call them on any value that has
// them.
func (r *resolver) interfaces(t types.Type) {
	if t == nil {
		return
	}
	if i, ok := t.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			r.decl.dispatched = append(r.decl.dispatched, m.Name())
		}
	}
}

// mention records that an object is named.
func (r *resolver) mention(o types.Object) {
	const few = 16
	list := &r.decl.mentions
	switch {
	case len(*list) < few:
		if slices.Contains(*list, o) {
			return
		}
	case r.seen == nil:
		r.seen = map[types.Object]bool{}
		for _, m := range *list {
			r.seen[m] = true
		}
		fallthrough
	default:
		if r.seen[o] {
			return
		}
		r.seen[o] = true
	}
	*list = append(*list, o)
}

// An index tells where objects are named. It is made at first use.
type index struct {
	byName   bool // code calls methods by names that are not in the source
	funcs    bool // the same for functions
	reflects bool // code writes to values of any type

	indexOnce  sync.Once
	overwrites map[types.Object]*decl // types with values that are overwritten
	mentioned  map[types.Object][]*decl
	touched    map[types.Object][]*decl // package variables that are not only read
	named      []*decl                  // types with methods
	methods    map[string][]*decl       // by name
	called     map[string][]*decl       // by method name: declarations that may call it on any value that has it
}

func (p *parsedProgram) indexed() *index {
	p.indexOnce.Do(func() {
		p.touched, p.overwrites = map[types.Object][]*decl{}, map[types.Object]*decl{}
		p.mentioned, p.methods, p.called = map[types.Object][]*decl{}, map[string][]*decl{}, map[string][]*decl{}
		for _, k := range p.order {
			if k.engine {
				continue
			}
			for _, d := range k.decls {
				for _, o := range d.mentions {
					p.mentioned[o] = append(p.mentioned[o], d)
				}
				for _, l := range d.leaves {
					p.byName = p.byName || l.library && callsByName(l.full())
					p.funcs = p.funcs || l.library && takesFunctions(l.full())
					p.reflects = p.reflects || l.path == "reflect" && reflects(l.full())
				}
				for _, o := range d.overwrites {
					p.overwrites[o] = d
				}
				for _, o := range d.touches {
					p.touched[o] = append(p.touched[o], d)
				}
				for _, name := range d.dispatched {
					if l := p.called[name]; len(l) == 0 || l[len(l)-1] != d {
						p.called[name] = append(l, d)
					}
				}
				switch d.kind {
				case "method":
					p.methods[d.names[0]] = append(p.methods[d.names[0]], d)
				case "type":
					if len(d.methodSet()) > 0 { // its own, or promoted
						p.named = append(p.named, d)
					}
				}
			}
		}
	})
	return &p.index
}
