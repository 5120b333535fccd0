// Gen writes the files that package std embeds: lib.zip, the types of the standard library;
// imports.txt, the imports of its packages; facts.txt, the effects of its functions; and
// version.txt, the Go version of the sources. Run it in the directory of that package.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("dir", ".", "directory of package std")
	why := flag.String("why", "", "write nothing, but say what this name depends on, and by what way; ? lists what is not known, and the writes that corrections deny")
	flag.Parse()
	do := write
	if *why != "" {
		do = func(dir string) error { return explain(dir, *why) }
	}
	if err := do(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files, by name; dir holds the manual ones.
func generate(dir string) (map[string][]byte, error) {
	s, err := open(dir)
	if err != nil {
		return nil, err
	}
	lib, err := library(s.pkgs)
	if err != nil {
		return nil, err
	}
	facts, err := s.facts()
	version := runtime.Version() + "\n"
	return map[string][]byte{"lib.zip": lib, "imports.txt": imports(s.pkgs), "facts.txt": facts, "version.txt": []byte(version)}, err
}

// open analyzes the standard library under the corrections in dir.
func open(dir string) (*study, error) {
	b, err := os.ReadFile(filepath.Join(dir, "corrections.txt"))
	if err != nil {
		return nil, err
	}
	fixes, err := parseCorrections(b)
	if err != nil {
		return nil, err
	}
	pkgs, err := load("std")
	if err != nil {
		return nil, err
	}
	return examine(build(pkgs, fixes)), nil
}

// explain helps maintainers of the corrections.
func explain(dir, names string) error {
	s, err := open(dir)
	if err != nil {
		return err
	}
	if names != "?" {
		for name := range strings.SplitSeq(names, ",") {
			fmt.Fprintln(os.Stdout, s.way(name))
		}
		return nil
	}
	for _, name := range s.daring() {
		fmt.Fprintln(os.Stdout, name)
	}
	missing := s.missing()
	ends := slices.Sorted(maps.Keys(missing))
	slices.SortStableFunc(ends, func(a, b string) int { return len(missing[b]) - len(missing[a]) })
	for _, end := range ends {
		fmt.Fprintln(os.Stdout, len(missing[end]), end, missing[end])
	}
	return nil
}
