package analysis

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
)

// engine is the module of Larder.
const engine = "github.com/larder-data/larder"

// engineImpure maps Larder's own packages that functions may call to their names that read
// the outside without recording it. Other reads are recorded, and what they compute has its
// own keys.
var engineImpure = map[string]map[string]string{
	engine: {
		"DefaultDir": "the environment", "Open": "the file system", "Larder.Metrics": "the program's state", "Larder.Close": "the program's state",
		"Larder.Store": "the store", "Larder.Verifies": "randomness",
	},
	engine + "/lazy":   {"Why": "the store", "PlanOf": "the store", "Tree": "the store"},
	engine + "/key":    {"DigestFile": "the file system", "Build": "the executable", "Methods": "the executable"},
	engine + "/codeid": {"Packages": "the program's sources"},
	engine + "/internal/codeid/analysis": {
		"Identify": "the program's sources", "Captures": "the program's sources", "FunctionOf": "the executable", "Surroundings": "the environment",
	},
	engine + "/internal/codeid/known": {
		"Closure": "the program's sources", "MethodsOf": "the program's sources", "CheckCaptured": "the program's sources", "ClosureParts": "the store",
	},
	engine + "/array": {},
}

// engineCallable lists functions of Larder's own packages that pass samples to components.
// Results of components may depend on these functions: they return parts of the samples,
// whose content and codecs have their own parts of the key, or compute. All others read
// files, stores, or results not yet computed.
var engineCallable = map[string]map[string]bool{
	engine + "/dataset": setOf(
		"NewSample", "NewItem", "NewBytes", "NewTransform", "NewTyped", "Decode", "Encode", "CheckExt", "IsKnown", "FormatOf", "ParsePath", "Recode", "Rand", "Compose",
		"Item.Value", "Item.Oriented", "Item.Borrow", "Item.Bytes", "Item.Open", "Item.IsRaw", "Item.Ext", "Item.Digest", "Path.String", "Path.Inside", "Random.Check", "NoItemError.Error", "NoValueError.Error",
		"Sample.Len", "Sample.Fields", "Sample.Keys", "Sample.Field", "Sample.Item", "Sample.Value", "Sample.With", "Sample.WithItem", "Sample.Without", "Sample.Only",
		"Sample.Rename", "Sample.Remap", "Sample.Share", "Sample.Get", "Sample.Set", "Sample.SetAll"),
	engine + "/component": setOf("Env.Path", "Suggest"),
}

// perProgram lists those of them that depend on the rest of the program; the components of
// Larder have all of that in their keys.
var perProgram = setOf(engine+"/dataset.IsKnown", engine+"/dataset.FormatOf")

// isSetting reports whether a name is that of a variable other than an error.
func isSetting(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && isPackageVariable(v) && !types.Identical(v.Type(), types.Universe.Lookup("error").Type())
}

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// isEngine reports whether functions may call a package of Larder.
func isEngine(path string) bool { return engineImpure[path] != nil || engineCallable[path] != nil }

// ofLarder reports whether a package belongs to Larder.
func ofLarder(path string) bool {
	return path == engine || strings.HasPrefix(path, engine+"/") && !strings.HasPrefix(path, engine+"/examples/")
}

// handsIn reports whether only Larder passes in values of a package's types, so that other
// parts of the key identify them.
func handsIn(path string) bool { return path == engine || engineCallable[path] != nil }

// engine includes a name of one of Larder's own packages.
func (w *walker) engine(d *decl, l leaf) {
	if w.declared(d, l.path, l.full()) {
		return
	}
	what := engineImpure[l.path][l.name]
	_, calls := l.object.(*types.Func)
	switch callable := engineCallable[l.path]; {
	case w.root.values && l.path == engine && calls && !ofLarder(d.file.pkg.path):
		what = "what it reads is recorded for lazy functions and makers alone"
	case callable != nil && isSetting(l.object):
		what = "a setting of Larder, which may change"
	case callable != nil && perProgram[l.full()] && !ofLarder(d.file.pkg.path):
		what = "what the program registers"
	case callable == nil || !calls:
	case len(w.root.through) == 0:
		what = "codecs that its key does not cover, because it is not a component"
	case !callable[l.name]:
		what = "more than the samples that a component is given"
	}
	if what != "" {
		w.refuse(d, problem{what: fmt.Sprintf("%s (%s)", l.full(), what), at: d.at(l.at), name: l.full(), refuse: true})
	}
	own := ofLarder(d.file.pkg.path)
	computes := own && calls && (l.path == engine+"/array" || l.path == engine+"/key")
	if k := w.program.packages[l.path]; k != nil && (computes || engineCallable[l.path] != nil) {
		w.modules[l.path] = k.code().String()
		return
	}
	if own {
		return // it names what is computed, and transports it
	}
	if m, ok := w.program.build.module(engine); ok && m.version != "" {
		w.modules[m.path] = m.version
	} else {
		w.modules[engine] = w.program.engineDigest()
	}
}

// engineDigest returns the digest of the sources of Larder's own packages, for programs
// built with Larder from a directory.
func (p *parsedProgram) engineDigest() string {
	var list []string
	for path, k := range p.packages {
		if k.engine && engineCallable[path] == nil {
			list = append(list, path+" "+k.content())
		}
	}
	slices.Sort(list)
	return key.DigestOf([]byte(strings.Join(list, "\n"))).String()
}

// code returns the digest of all declarations of a package, without comments and layout.
func (k *pkg) code() key.Digest {
	k.codeOnce.Do(func() {
		list := make([]string, len(k.decls))
		for i, d := range k.decls {
			list[i] = d.label() + " " + d.sum(nil).String()
		}
		slices.Sort(list)
		k.codeSum = key.DigestOf([]byte(strings.Join(list, "\n")))
	})
	return k.codeSum
}

// content returns the digest of the sources of a package, unchanged.
func (k *pkg) content() string {
	var list []string
	for _, f := range k.syntax {
		list = append(list, f.name+" "+key.DigestOf(f.content).String())
	}
	return strings.Join(list, "\n")
}

// whole digests the whole program: by its sources if all its own packages register them, so
// that edits outside of code change nothing; otherwise by the executable.
func (p *parsedProgram) whole() ([]Part, error) {
	why := p.hidden()
	if why != "" {
		code, err := key.Build()
		return []Part{{Name: "the executable", Where: why, Digest: key.DigestOf([]byte(code.ID))}}, err
	}
	var parts []Part
	for _, k := range p.order {
		if !k.engine {
			parts = append(parts, Part{Name: "package " + k.path, Digest: key.DigestOf([]byte(k.content()))})
		}
		for _, d := range k.decls {
			if len(d.embeds) > 0 {
				files, err := k.embeddedFiles(d.embeds)
				if err != nil {
					return nil, fmt.Errorf("codeid: package %s: %w", k.path, err)
				}
				parts = append(parts, files...)
			}
		}
	}
	parts = append(parts, Part{Name: "modules", Digest: key.DigestOf([]byte(p.build.allModules()))}, Part{Name: "Larder", Digest: key.DigestOf([]byte(p.engineDigest()))})
	for _, s := range p.build.settings {
		parts = append(parts, Part{Name: "build " + s.name, Where: s.value, Digest: key.DigestOf([]byte(s.value))})
	}
	return parts, nil
}

// hidden returns which code of the program the registered sources do not show, or "".
func (p *parsedProgram) hidden() string {
	switch {
	case p.unknown != "" && p.packages[p.unknown] == nil:
		return "package " + p.unknown + " does not register its sources"
	case p.unseen != "" && p.build.local(p.unseen):
		return "package " + p.unseen + " does not register its sources"
	case p.build.trimmed:
		return "it is built with -trimpath, which leaves no trace of what the linker sets"
	case p.build.linking != "":
		return "the linker sets variables: " + p.build.linking
	}
	if p.build.workspace {
		return "it is built in a workspace, and the version of the language of its modules is not on record"
	}
	for _, m := range p.build.modules {
		if m.version == "" && !m.main && m.path != engine {
			return "module " + m.path + " is in a directory, and its language version is not recorded"
		}
	}
	for _, k := range p.order {
		if k.engine {
			continue
		}
		if k.assembly {
			return "package " + k.path + " has code that is not Go"
		}
		if k.imports["C"] {
			return "package " + k.path + " has code that is not Go"
		}
		if len(k.sources) == 0 {
			return "package " + k.path + " does not embed all its sources"
		}
		for _, d := range k.decls {
			if slices.ContainsFunc(d.embeds, func(e string) bool { return !k.registers(e) }) {
				return "package " + k.path + " embeds files that are not registered"
			}
		}
	}
	return ""
}
