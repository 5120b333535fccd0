package mapper_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// apply runs a transform on one sample outside of a flow.
func apply(ctx context.Context, m dataset.Transform, err error, s dataset.Sample) (dataset.Sample, error) {
	if err != nil {
		return dataset.Sample{}, err
	}
	return m.Map(ctx, s)
}

func picture(img image.Image) dataset.Sample {
	return dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewItem("png", img)})
}

func TestImageStats(t *testing.T) {
	gray := image.NewGray(image.Rect(5, 5, 7, 7)) // not at the origin
	copy(gray.Pix, []uint8{0, 100, 200, 100})
	opaque := image.NewRGBA(image.Rect(0, 0, 2, 1))
	opaque.SetRGBA(0, 0, color.RGBA{10, 20, 30, 255})
	opaque.SetRGBA(1, 0, color.RGBA{30, 20, 10, 255})
	grayAlpha := &array.GrayAlpha{Pix: []uint8{10, 255}, Stride: 2, Rect: image.Rect(0, 0, 1, 1)}
	clear := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	clear.SetNRGBA(0, 0, color.NRGBA{10, 20, 30, 128})
	deep := image.NewGray16(image.Rect(0, 0, 1, 1))
	deep.SetGray16(0, 0, color.Gray16{40000})
	for _, c := range []struct {
		name string
		img  image.Image
		want map[string]any
	}{
		{"gray", gray, map[string]any{
			"width": int64(2), "height": int64(2), "channels": int64(1), "bits": int64(8),
			"mean": []any{100.0}, "std": []any{70.71067811865476}, "min": []any{int64(0)}, "max": []any{int64(200)},
		}},
		{"opaque colour", opaque, map[string]any{
			"width": int64(2), "height": int64(1), "channels": int64(3), "bits": int64(8),
			"mean": []any{20.0, 20.0, 20.0}, "std": []any{10.0, 0.0, 10.0},
			"min": []any{int64(10), int64(20), int64(10)}, "max": []any{int64(30), int64(20), int64(30)},
		}},
		{"alpha", clear, map[string]any{
			"width": int64(1), "height": int64(1), "channels": int64(4), "bits": int64(8),
			"mean": []any{10.0, 20.0, 30.0, 128.0}, "std": []any{0.0, 0.0, 0.0, 0.0},
			"min": []any{int64(10), int64(20), int64(30), int64(128)}, "max": []any{int64(10), int64(20), int64(30), int64(128)},
		}},
		{"grey with alpha, opaque", grayAlpha, map[string]any{
			"width": int64(1), "height": int64(1), "channels": int64(2), "bits": int64(8),
			"mean": []any{10.0, 255.0}, "std": []any{0.0, 0.0}, "min": []any{int64(10), int64(255)}, "max": []any{int64(10), int64(255)},
		}},
		{"16 bits", deep, map[string]any{
			"width": int64(1), "height": int64(1), "channels": int64(1), "bits": int64(16),
			"mean": []any{40000.0}, "std": []any{0.0}, "min": []any{int64(40000)}, "max": []any{int64(40000)},
		}},
	} {
		m, err := mapper.ImageStats{Item: "image", Into: "stats", Format: "json"}.Transform()
		out, err := apply(t.Context(), m, err, picture(c.img))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := out.Value(t.Context(), "stats")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestImageStatsOfJPEG compares the path for JPEG with that for any image, for all kinds of
// chroma sampling and for crops.
func TestImageStatsOfJPEG(t *testing.T) {
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		whole := image.NewYCbCr(image.Rect(0, 0, 13, 9), ratio)
		for _, plane := range [][]uint8{whole.Y, whole.Cb, whole.Cr} {
			for i := range plane {
				plane[i] = uint8(i * 37)
			}
		}
		for _, r := range []image.Rectangle{whole.Rect, image.Rect(3, 1, 12, 8), image.Rect(2, 2, 3, 3)} {
			cut := whole.SubImage(r)
			plain := image.NewRGBA(r)
			draw.Draw(plain, r, cut, r.Min, draw.Src)
			var got [2]any
			for i, img := range []image.Image{cut, plain} {
				var err error
				if got[i], err = mapper.Measure(img); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(got[1], got[0]); diff != "" {
				t.Errorf("%v, %v (-any image +JPEG):\n%s", ratio, r, diff)
			}
		}
	}
}

func TestImageStatsOfWhatIsNoImage(t *testing.T) {
	m, err := mapper.ImageStats{Item: "image", Into: "stats", Format: "json"}.Transform()
	s := dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewItem("txt", "x")})
	if _, err := apply(t.Context(), m, err, s); err == nil || !strings.Contains(err.Error(), "not an image") {
		t.Errorf("the error is %v", err)
	}
}

func TestImageResize(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for _, c := range []struct{ width, height, wantWidth, wantHeight int }{
		{10, 0, 10, 5}, {0, 10, 20, 10}, {3, 7, 3, 7}, {1, 0, 1, 1},
	} {
		for _, filter := range []string{"nearest", "bilinear", "catmull-rom"} {
			m, err := mapper.ImageResize{Item: "image", Width: c.width, Height: c.height, Filter: filter, Format: "png"}.Transform()
			out, err := apply(t.Context(), m, err, picture(img))
			if err != nil {
				t.Fatal(err)
			}
			v, err := out.Value(t.Context(), "image")
			if err != nil {
				t.Fatal(err)
			}
			got := v.(image.Image)
			if got.Bounds().Dx() != c.wantWidth || got.Bounds().Dy() != c.wantHeight {
				t.Errorf("%d x %d, %s: the result is %v", c.width, c.height, filter, got.Bounds())
			}
			if r, g, b, a := got.At(0, 0).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff || a != 0xffff {
				t.Errorf("%s: white became %v", filter, got.At(0, 0))
			}
		}
	}
	for _, bad := range []mapper.ImageResize{{}, {Width: -1}, {Width: 1 << 20}} {
		if _, err := bad.Transform(); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestHashIsOfValues(t *testing.T) {
	digest := func(ext, text string) string {
		m, err := mapper.Hash{Into: "hash"}.Transform()
		out, err := apply(t.Context(), m, err, dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes(ext, []byte(text))}))
		if err != nil {
			t.Fatal(err)
		}
		v, err := out.Value(t.Context(), "hash")
		if err != nil {
			t.Fatal(err)
		}
		return v.(string)
	}
	base := digest("json", `{"x": 1, "y": [true]}`)
	if digest("json", `{"y":[true],"x":1}`) != base || digest("yaml", "y: [true]\nx: 1\n") != base {
		t.Error("equal values have different digests")
	}
	for _, other := range []string{`{"x": 1, "y": [false]}`, `{"x": "1", "y": [true]}`, `{"x": 1.0, "y": [true]}`} {
		if digest("json", other) == base {
			t.Errorf("%s has the digest of another value", other)
		}
	}
}

// run makes an exec mapper that runs a shell script, and applies it.
func run(ctx context.Context, t *testing.T, script string, into ...string) (dataset.Sample, error) {
	t.Helper()
	env := &component.Env{Dir: t.TempDir()}
	m, err := mapper.Exec{Command: []string{"sh", "-c", script}, Items: []string{"a"}, Into: into}.Transform(env)
	return apply(ctx, m, err, dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", []byte("hello"))}))
}

func TestExec(t *testing.T) {
	t.Setenv("SECRET", "x")
	out, err := run(t.Context(), t, `tr a-z A-Z < "$LARDER_IN/a.txt" > "$LARDER_OUT/b.txt"; env | cut -d= -f1 | sort | tr '\n' ' ' > "$LARDER_OUT/names.txt"; ls -A > "$LARDER_OUT/here.txt"`, "b", "names", "here")
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"b": "HELLO", "here": "in\nout\n"} {
		if v, err := out.Value(t.Context(), k); v != want || err != nil {
			t.Errorf("%s is %q, error %v", k, v, err)
		}
	}
	names, err := out.Value(t.Context(), "names")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(names.(string)) {
		if !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LARDER_IN", "LARDER_OUT", "PWD", "OLDPWD", "SHLVL", "_"}, name) {
			t.Errorf("the command sees the variable %s", name)
		}
	}
}

func TestExecErrors(t *testing.T) {
	for _, c := range []struct{ name, script, says string }{
		{"exit status", "echo details >&2; exit 7", "exit status 7"},
		{"end of stderr", "seq 100000 >&2; echo the end >&2; exit 1", "the end"},
		{"an item too many", `touch "$LARDER_OUT/b.txt" "$LARDER_OUT/c.txt"`, "item c is not in into: b"},
		{"an item missing", "true", "did not write item b"},
		{"no extension", `touch "$LARDER_OUT/b"`, "without an extension"},
		{"a directory", `mkdir "$LARDER_OUT/b.txt"`, "not a regular file"},
		{"a link", `ln -s /etc/passwd "$LARDER_OUT/b.txt"`, "not a regular file"},
		{"twice", `touch "$LARDER_OUT/b.txt" "$LARDER_OUT/b.json"`, "item b with two extensions"},
		{"killed", "kill -9 $$", "killed"},
		{"a name of two lines", `touch "$LARDER_OUT/a
larder: all is well.txt"`, `the command wrote "a\nlarder: all is well.txt", but item "a\nlarder: all is well" is not in into: b`},
		{"no JSON", `printf '{' > "$LARDER_OUT/b.json"`, "the command wrote b.json, which cannot be read: json: "},
		{"its directory removed", `rm -r "$LARDER_OUT"`, "the command removed its directory LARDER_OUT"},
		{"its directory a file", `rm -r "$LARDER_OUT"; touch "$LARDER_OUT"`, "the command replaced its directory LARDER_OUT by a file"},
		{"its directory a link", `touch b.txt; rm -r "$LARDER_OUT"; ln -s . "$LARDER_OUT"`, "the command replaced its directory LARDER_OUT"},
		{"its directory elsewhere", `mv "$LARDER_OUT" .."$(basename "$LARDER_OUT")"`, "the command removed its directory LARDER_OUT"},
		{"all removed", `cd /; rm -r "$(dirname "$LARDER_OUT")"`, "the command removed the parent directory of LARDER_OUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			_, err := run(t.Context(), t, c.script, "b")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
			if err != nil && len(err.Error()) > 5000 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestExecIsStoppedWithItsChildren cancels a command that started another.
func TestExecIsStoppedWithItsChildren(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := run(ctx, t, "sleep 1000 & echo $! > "+pids+"; wait", "b")
		done <- err
	}()
	b, err := os.ReadFile(pids) // waits for the command to write
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(b)), "stat")
	for deadline := time.Now().Add(10 * time.Second); ; {
		status, err := os.ReadFile(stat)
		if err != nil || strings.Contains(string(status), ") Z ") {
			return // gone, or dead and not yet reaped by its new parent
		}
		if time.Now().After(deadline) {
			t.Fatal("the command's child is still there")
		}
	}
}

func TestExecIdentity(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.py", "1")
	write("table.csv", "1")
	t.Setenv("MODE", "fast")
	base := mapper.Exec{Command: []string{"python3", "a.py", "--x"}, Items: []string{"a"}, Into: []string{"b"}, Code: []component.Path{"table.csv"}, Env: []string{"MODE"}}
	id := func(e mapper.Exec, dir string) string {
		m, err := e.Transform(&component.Env{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.Op(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return op.Action().Key().String()
	}
	was := id(base, dir)
	differs := func(what string, now string) {
		t.Helper()
		if now == was {
			t.Errorf("%s does not change the identity", what)
		}
	}
	other := base
	other.Command = []string{"python3", "a.py", "--y"}
	differs("another word", id(other, dir))
	other.Command = []string{"python3", "a.py --x"}
	differs("words joined", id(other, dir))
	write("a.py", "2")
	differs("a program below the flow's directory", id(base, dir))
	write("a.py", "1")
	write("table.csv", "2")
	differs("a code file", id(base, dir))
	write("table.csv", "1")
	t.Setenv("MODE", "slow")
	differs("a variable it may see", id(base, dir))
	t.Setenv("MODE", "")
	empty := id(base, dir)
	os.Unsetenv("MODE")
	if id(base, dir) == empty {
		t.Error("a variable that is empty and one that is not set are the same")
	}
	t.Setenv("MODE", "fast")
	t.Setenv("OTHER", "x")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(moved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for what, now := range map[string]string{"nothing": id(base, dir), "moving the flow": id(base, moved)} {
		if now != was {
			t.Errorf("%s changes the identity", what)
		}
	}
	base.Code = []component.Path{"missing.py"}
	if _, err := base.Transform(&component.Env{Dir: dir}); err == nil || !strings.Contains(err.Error(), "missing.py") {
		t.Errorf("a missing code file gives %v", err)
	}
}

// TestExecWithCodeThatChanges checks that a result of other code than the key covers is not
// returned.
func TestExecWithCodeThatChanges(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "s.sh")
	if err := os.WriteFile(script, []byte(`echo old > "$LARDER_OUT/b.txt"`), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := mapper.Exec{Command: []string{"sh", "s.sh"}, Items: []string{"a"}, Into: []string{"b"}}.Transform(&component.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(`echo new > "$LARDER_OUT/b.txt"`), 0o666); err != nil {
		t.Fatal(err)
	}
	s := dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", []byte("x"))})
	if _, err := m.Map(t.Context(), s); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("the error is %v", err)
	}
}
