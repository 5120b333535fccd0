package mapper

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// maxPieces is how many texts are tried as names of files at most: more than the
// longest word that Linux gives to a program has of different ones, unless it
// was made for that.
const maxPieces = 1 << 16

// cuts are what ends a name in a text, in scripts and lists of options. Each cuts
// more finely than the one before; pieces of the coarser ones count as well, as
// names may have blanks and signs in them.
var cuts = []string{"\"'`\r\n", "=:;,|&<>()$", " \t\v\f", `@[]{}!#\`}

// namedFiles are the files below the flow's folder that a command names.
type namedFiles struct {
	words map[string]string // paths, by the words that are their names
	parts map[string]string // paths of others, by what they are called from the folder
	may   []string          // paths below the folder at which there is nothing
}

// Files lists the files whose content is part of the identity beside Code: those
// below the flow's folder that the words of the command and the values of the
// variables in Env name, as a whole or in a part. may are the paths below that
// folder at which there is nothing: they would be among the files if they came
// to be.
func (m Exec) Files(env *component.Env) (files, may []string) {
	named, _ := m.named(env)
	files = slices.AppendSeq(slices.Collect(maps.Values(named.words)), maps.Values(named.parts))
	slices.Sort(files)
	return slices.Compact(files), named.may
}

// named finds the files that the command names. It fails if there is more to
// try than can be.
func (m Exec) named(env *component.Env) (named namedFiles, err error) {
	named = namedFiles{words: map[string]string{}, parts: map[string]string{}}
	known := map[string]bool{}
	for _, p := range m.Code {
		known[env.Path(p)] = true
	}
	for _, word := range m.Command {
		if path := env.Path(component.Path(word)); word != "" && pathguard.Inside(env.Dir, path) && isRegular(path) {
			named.words[word], known[path] = path, true
		}
	}
	all, err := m.pieces()
	real := pathguard.Resolve(env.Dir)
	for _, piece := range all {
		name, ok := below(env, real, piece)
		path := filepath.Join(env.Dir, name)
		if !ok || known[path] {
			continue
		}
		known[path] = true
		switch info, err := os.Stat(path); {
		case err == nil && info.Mode().IsRegular():
			named.parts[name] = path
		case errors.Is(err, fs.ErrNotExist):
			named.may = append(named.may, path)
		}
	}
	return named, err
}

// below returns what a path is called from the flow's folder, whether that is
// called by its own name or by the real one.
func below(env *component.Env, real, piece string) (name string, ok bool) {
	path := env.Path(component.Path(piece))
	for _, dir := range []string{env.Dir, real} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// pieces lists what may be the name of a file in the words of the command and the
// values of its variables, sorted: the whole of each, and what lies between the
// signs that may end a name.
func (m Exec) pieces() ([]string, error) {
	all := map[string]bool{}
	add := func(piece string) {
		if piece != "" && len(all) <= maxPieces {
			all[piece] = true
		}
	}
	for _, text := range m.texts() {
		add(text)
		ends := ""
		for _, cut := range cuts {
			ends += cut
			for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(ends, r) }) {
				add(piece)
				if len(piece) > 2 && piece[0] == '-' && piece[1] != '-' {
					add(piece[2:]) // of an option of one letter
				}
			}
		}
	}
	var err error
	if len(all) > maxPieces {
		err = fmt.Errorf("the words of command and the values of the variables in env have more than %d parts that may name files; put long texts into a file and name that", maxPieces)
	}
	return slices.Sorted(maps.Keys(all)), err
}

// texts lists the words of the command and the values of its variables.
func (m Exec) texts() []string {
	texts := slices.Clone(m.Command)
	for _, name := range m.Env {
		texts = append(texts, os.Getenv(name))
	}
	return texts
}

// Inputs lists what the command may read: its code, the files that its words and
// variables name, as a whole or in a part, the program, and the folders that are
// whole paths among them, alone or after a "=". Of folders only the names are
// protected: those that are words by chance are many.
func (m Exec) Inputs(env *component.Env) (all []pathguard.Input) {
	add := func(path string) { all = append(all, pathguard.Input{Path: path, Entry: true}) }
	for _, p := range m.Code {
		add(env.Path(p))
	}
	pieces, _ := m.pieces() // of too many a part: the mapper is refused
	for _, piece := range pieces {
		if path := env.Path(component.Path(piece)); isRegular(path) {
			add(path)
		}
	}
	if len(m.Command) > 0 {
		if program, err := exec.LookPath(m.Command[0]); err == nil {
			add(program)
		}
	}
	for _, path := range m.wholePaths() {
		if _, err := os.Stat(path); err == nil {
			add(path)
		}
	}
	return all
}

// wholePaths lists what in the words and variables of a command looks like a
// path that starts at the root.
func (m Exec) wholePaths() (paths []string) {
	texts := m.texts()
	for _, word := range m.Command {
		_, value, _ := strings.Cut(word, "=")
		texts = append(texts, value)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return !filepath.IsAbs(text) })
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
