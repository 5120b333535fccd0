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

// maxPieces bounds the strings that are tried as file names. It exceeds the number of
// distinct ones in the longest argument of Linux, except for arguments built to exceed
// it.
const maxPieces = 1 << 16

// cuts are the characters that end a name in a string, in scripts and lists of options.
// Each set cuts more finely than the one before. Pieces of the coarser cuts count as
// well, because names may contain blanks and punctuation.
var cuts = []string{"\"'`\r\n", "=:;,|&<>()$", " \t\v\f", `@[]{}!#\`}

// namedFiles are the files below the flow's directory that a command names.
type namedFiles struct {
	words map[string]string // paths, by the words that are their names
	parts map[string]string // other paths, by their names relative to the directory
	may   []string          // paths below the directory that do not exist
}

// Files lists the files besides Code whose content is part of the identity. They are
// files below the flow's directory named by words of the command or by values of the
// variables in Env, as a whole or in a part. may lists the paths below that directory
// that do not exist; if they existed, they would be among the files.
func (m Exec) Files(env *component.Env) (files, may []string) {
	named, _ := m.named(env)
	files = slices.AppendSeq(slices.Collect(maps.Values(named.words)), maps.Values(named.parts))
	slices.Sort(files)
	return slices.Compact(files), named.may
}

// named finds the files that the command names. It fails if there are too many
// candidates.
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

// below returns a path relative to the flow's directory, given by its name or by its
// resolved path.
func below(env *component.Env, real, piece string) (name string, ok bool) {
	path := env.Path(component.Path(piece))
	for _, dir := range []string{env.Dir, real} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// pieces lists the possible file names in the words of the command and the values of
// its variables, sorted. These are the whole strings, and the parts between characters
// that may end a name.
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
					add(piece[2:]) // the value of a one-letter option
				}
			}
		}
	}
	var err error
	if len(all) > maxPieces {
		err = fmt.Errorf("command and env have more than %d parts that may name files; put long strings into a file", maxPieces)
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

// Inputs lists what the command may read: its code, the program, and the files that its
// words and variables name, as a whole or in a part. It also lists directories that are
// a whole path there, alone or after a "=". Only the names of directories are
// protected, because many words match a directory accidentally.
func (m Exec) Inputs(env *component.Env) (all []pathguard.Input) {
	add := func(path string) { all = append(all, pathguard.Input{Path: path, Entry: true}) }
	for _, p := range m.Code {
		add(env.Path(p))
	}
	pieces, _ := m.pieces() // with too many, the mapper is refused
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

// wholePaths lists the apparent absolute paths in the words and variables of a command.
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
