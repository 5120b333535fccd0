package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine describes the machine of a measurement.
type Machine struct {
	CPU        string `json:"cpu"`
	Processors int    `json:"processors"`
	Memory     string `json:"memory"`
	OS         string `json:"os"`
	Go         string `json:"go"`
	FileSystem string `json:"file_system"` // of the directory for temporary files
}

func machine(dir string) Machine {
	kernel := strings.TrimSpace(content("/proc/sys/kernel/osrelease"))
	return Machine{
		CPU: field("/proc/cpuinfo", "model name"), Processors: runtime.NumCPU(), Memory: memory(),
		OS: strings.Trim(field("/etc/os-release", "PRETTY_NAME"), `"`) + ", Linux " + kernel,
		Go: runtime.Version(), FileSystem: fileSystem(dir),
	}
}

// load returns the load average of the machine.
func load() string {
	averages := strings.Fields(content("/proc/loadavg"))
	return strings.Join(averages[:min(3, len(averages))], " ")
}

func memory() string {
	var kib float64
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib); err != nil {
		return "unknown"
	}
	return Bytes.write(kib * 1024)
}

func content(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}

// field returns the value of a name in a file of names and values.
func field(file, name string) string {
	for line := range strings.Lines(content(file)) {
		at := strings.IndexAny(line, ":=")
		if at > 0 && strings.TrimSpace(line[:at]) == name {
			return strings.TrimSpace(line[at+1:])
		}
	}
	return "unknown"
}

// fileSystem returns the type of the file system of a directory.
func fileSystem(dir string) string {
	kind, longest := "unknown", -1
	for line := range strings.Lines(content("/proc/self/mountinfo")) {
		before, after, _ := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(g) == 0 || len(f[4]) < longest {
			continue
		}
		if rel, err := filepath.Rel(f[4], dir); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			kind, longest = g[0], len(f[4])
		}
	}
	return kind
}

// python returns the interpreter of a virtual environment with the peers, which it
// creates if it is missing.
func python(ctx context.Context) (string, error) {
	venv, err := filepath.Abs(".venv")
	if err != nil {
		return "", err
	}
	interpreter := filepath.Join(venv, "bin", "python")
	wanted := content("python/requirements.txt")
	if content(filepath.Join(venv, "installed")) == wanted {
		return interpreter, nil
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", venv},
		{interpreter, "-m", "pip", "install", "--quiet", "-r", "python/requirements.txt"},
	} {
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(args[1:4], " "), err, lastLine(string(out)))
		}
	}
	return interpreter, os.WriteFile(filepath.Join(venv, "installed"), []byte(wanted), 0o666)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// peers are the Go modules with which Larder is compared.
var peers = []string{
	"github.com/maypok86/otter/v2", "github.com/hashicorp/golang-lru/v2", "github.com/dgraph-io/ristretto/v2", "github.com/golang/groupcache",
	"go.etcd.io/bbolt", "github.com/dgraph-io/badger/v4", "github.com/cockroachdb/pebble/v2", "modernc.org/sqlite",
}

// versions lists the software: modules of this program, packages of the virtual
// environment, the interpreter and the commit of Larder.
func versions(ctx context.Context, interpreter string) map[string]string {
	v := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			for _, p := range peers {
				if m.Path == p {
					v[p] = m.Version
				}
			}
		}
	}
	for line := range strings.Lines(content("python/requirements.txt")) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); ok {
			v[name] = version
		}
	}
	if out, err := exec.CommandContext(ctx, interpreter, "-c", "import platform; print(platform.python_version())").Output(); err == nil {
		v["Python"] = strings.TrimSpace(string(out))
	}
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		v["Larder"] = strings.TrimSpace(string(out))
	}
	return v
}
