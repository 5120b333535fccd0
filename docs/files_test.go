package docs_test

import (
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pathForm   = regexp.MustCompile(`^(\./|\.)?[a-z_][a-z0-9_.-]*(/[a-z0-9_][a-z0-9_.-]*)*(/|/\.\.\.)?$`)
	sourceFile = regexp.MustCompile(`\w\.(go|py)$`)
	moduleForm = regexp.MustCompile(`^_[a-z]+$`)
)

// TestNamedFilesExist checks that files and directories named on a page exist, relative to
// the root, the page, or another one of the same section. Pages about other topics also
// name users' directories, so there only those that begin like one of the root count.
func TestNamedFilesExist(t *testing.T) {
	modules := read(t, "../go.mod") + read(t, "../bench/go.mod") + read(t, "../objectstore/cloud/go.mod")
	for _, p := range everyPage(t) {
		onCode := !strings.HasPrefix(p.name, "docs"+string(filepath.Separator)) && filepath.Dir(p.name) == "."
		s := section{page: filepath.Join("..", filepath.Dir(p.name))}
		for _, par := range p.paragraphs() {
			s.enter(par.heading)
			for _, span := range par.spans {
				begin, _, isPath := strings.Cut(strings.TrimPrefix(span, "./"), "/")
				switch {
				case moduleForm.MatchString(span) && s.hasModules():
				case !pathForm.MatchString(span):
					continue
				case !sourceFile.MatchString(span) && (!isPath || !onCode && !there(filepath.Join("..", begin))):
					s.find(span) // a directory, next to which others are
					continue
				}
				if span = strings.TrimSuffix(span, "/..."); !s.find(span) && !strings.Contains(modules, span) &&
					!there(filepath.Join(build.Default.GOROOT, "src", span)) && !strings.Contains(p.code(), span) {
					t.Errorf("%s:%d: there is no %s, from the root or next to what this section names", p.name, par.line, span)
				}
			}
		}
	}
}

// A section knows where the files that it names may be.
type section struct {
	page, heading string
	places        []string
}

func (s *section) enter(heading string) {
	if s.places == nil || heading != s.heading {
		s.heading, s.places = heading, []string{"..", s.page}
	}
}

// find reports whether such a file exists, and continues from its directory.
func (s *section) find(name string) bool {
	for _, place := range s.places {
		file := filepath.Join(place, name)
		if there(file + ".py") {
			file += ".py"
		}
		if info, err := os.Stat(file); err == nil {
			if !info.IsDir() {
				file = filepath.Dir(file)
			}
			if there(filepath.Join(file, "__init__.py")) { // modules are named with packages next to them
				s.places = append(s.places, filepath.Dir(file))
			}
			s.places = append(s.places, file)
			return true
		}
	}
	return false
}

// hasModules reports whether names may be modules of the Python package.
func (s *section) hasModules() bool {
	return slices.ContainsFunc(s.places[2:], func(place string) bool { return strings.HasPrefix(filepath.ToSlash(place), "../python/src") })
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
