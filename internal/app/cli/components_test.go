package cli_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/internal/testing/pythontest"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// written is a dataset that a command wrote or read.
type written struct {
	*testing.T
	component.Samples
	dir string
}

func open(t *testing.T, dir string) written {
	t.Helper()
	ds, err := underfolder.Open(dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return written{t, ds, dir}
}

// part opens one output in a subdirectory.
func (w written) part(name string) written {
	w.Helper()
	return open(w.T, filepath.Join(w.dir, name))
}

// sample returns the sample at i.
func (w written) sample(i int) dataset.Sample {
	w.Helper()
	s, err := w.At(w.Context(), i)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// value returns the value at a path of sample i.
func (w written) value(i int, path string) any {
	w.Helper()
	v, err := w.sample(i).Get(w.Context(), path)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// picture returns the image of sample i.
func (w written) picture(i int) image.Image {
	w.Helper()
	return w.value(i, "image").(image.Image)
}

// letters reads the letter of every sample.
func (w written) letters() string {
	w.Helper()
	var b strings.Builder
	for i := range w.Len() {
		fmt.Fprint(&b, w.value(i, "metadata.letter"))
	}
	return b.String()
}

// has checks the letters.
func (w written) has(want string) {
	w.Helper()
	if got := w.letters(); got != want {
		w.Errorf("%s holds %q, want %q", w.dir, got, want)
	}
}

// keys checks the items of every sample.
func (w written) keys(want ...string) {
	w.Helper()
	for i := range w.Len() {
		if got := slices.Sorted(slices.Values(w.sample(i).Keys())); !slices.Equal(got, want) {
			w.Fatalf("sample %d of %s has the items %q, want %q", i, w.dir, got, want)
		}
	}
}

// size checks the size of every image.
func (w written) size(width, height int) {
	w.Helper()
	for i := range w.Len() {
		if got := w.picture(i).Bounds().Size(); got != image.Pt(width, height) {
			w.Fatalf("image %d of %s is %v, want %dx%d", i, w.dir, got, width, height)
		}
	}
}

// equal reports whether two images have the same pixels to eight bits, rounded either way.
// place maps positions in the first image to those in the second.
func equal(a, b image.Image, place func(x, y int) (int, int)) bool {
	size := a.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			bx, by := place(x, y)
			p := color.RGBAModel.Convert(a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y)).(color.RGBA)
			q := color.RGBAModel.Convert(b.At(b.Bounds().Min.X+bx, b.Bounds().Min.Y+by)).(color.RGBA)
			if p.A != q.A || far(p.R, q.R) || far(p.G, q.G) || far(p.B, q.B) {
				return false
			}
		}
	}
	return true
}

func far(a, b uint8) bool { return max(a, b)-min(a, b) > 1 }

func samePlace(x, y int) (int, int) { return x, y }

// files lists the files of a directory that match.
func (w written) files(pattern string) []string {
	w.Helper()
	paths, err := fs.Glob(os.DirFS(w.dir), pattern)
	if err != nil {
		w.Fatal(err)
	}
	return paths
}

// words splits a command line at spaces; a part in ' ' is one word.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

// oneComponent is one use of a component: its arguments except for input and output, and
// the expected output.
type oneComponent struct {
	line  string
	in    string // input instead of -i data
	check func(in, out written)
}

func all(want string) func(in, out written) { return func(_, out written) { out.has(want) } }

// parts checks the letters of each output.
func parts(want map[string]string) func(in, out written) {
	return func(_, out written) {
		for name, letters := range want {
			out.part(name).has(letters)
		}
		dirs, err := os.ReadDir(out.dir)
		if n := len(slices.DeleteFunc(dirs, func(d os.DirEntry) bool { return !d.IsDir() })); err != nil || n != len(want) {
			out.Errorf("%d outputs were written, want %d (%v)", n, len(want), err)
		}
	}
}

// drawn checks letters that were drawn, and their number.
func drawn(n int) func(in, out written) {
	return func(_, out written) {
		got := out.letters()
		if len(got) != n || strings.Trim(got, alphabet) != "" || len(slices.Compact(slices.Sorted(slices.Values(strings.Split(got, ""))))) < 2 {
			out.Errorf("drew %q, want %d letters", got, n)
		}
	}
}

// unchangedBut checks that the samples are unchanged except for the image, which has a
// given change.
func unchangedBut(change func(before, after image.Image) error) func(in, out written) {
	return func(in, out written) {
		out.has(alphabet)
		for i := range out.Len() {
			if err := change(in.picture(i), out.picture(i)); err != nil {
				out.Fatalf("image %d: %v", i, err)
			}
		}
	}
}

var operators = map[string]oneComponent{
	"batch":        {line: "--size 10", check: parts(map[string]string{"0": "abcdefghij", "1": "klmnopqrst", "2": "uvwxyz"})},
	"cat":          {in: "-i data -i data", check: all(alphabet + alphabet)},
	"check-length": {line: "--min 26 --max 26", check: all(alphabet)},
	"chunk":        {line: "--n 4", check: parts(map[string]string{"0": "abcdefg", "1": "hijklmn", "2": "opqrst", "3": "uvwxyz"})},
	"clone": {check: func(in, out written) {
		out.has(alphabet)
		out.keys("consonants", "image", "metadata", "vowels")
		sameTree(out.T, "a clone", tree(out.T, filepath.Join(out.dir, "data")), tree(out.T, filepath.Join(in.dir, "data")))
	}},
	"cycle": {line: "--n 30", check: all(alphabet + "abcd")},
	"enumerate": {line: "--start 10 --into n", check: func(_, out written) {
		out.has(alphabet)
		if v := fmt.Sprint(out.value(25, "n")); v != "35" {
			out.Errorf("the last sample has number %s, want 35", v)
		}
	}},
	"filter": {line: `--where 'metadata.color == "blue"'`, check: func(in, out written) {
		out.has(colored(in, "blue"))
	}},
	"group-by": {line: "--by metadata.color", check: func(in, out written) {
		groups := map[string]string{}
		for i := range in.Len() {
			groups[in.value(i, "metadata.color").(string)] += in.value(i, "metadata.letter").(string)
		}
		parts(groups)(in, out)
	}},
	"index":      {line: "--indices 3 --indices -1 --indices 3", check: all("dzd")},
	"interleave": {in: "-i data -i data", check: all(twice)},
	"map-if": {line: "--step '{map: drop-keys, with: {keys: [image]}}' --range 1:", check: func(_, out written) {
		out.has(alphabet)
		if images := out.files("data/*_image.*"); !slices.Equal(images, []string{"data/00_image.jpeg"}) {
			out.Errorf("images %v are left, want the first alone", images)
		}
	}},
	"materialise": {in: "-i jsonl:lists.jsonl,stream=true", check: all("abc")},
	"memorize":    {check: all(alphabet)},
	"mix":         {line: "--n 40 --weights 1 --weights 2", in: "-i data -i data", check: drawn(40)},
	"pad":         {line: "--length 28", check: all(alphabet + "zz")},
	"repeat":      {line: "--times 2 --interleave", check: all(twice)},
	"reverse":     {check: all("zyxwvutsrqponmlkjihgfedcba")},
	"sample":      {line: "--n 50 --seed 1", check: drawn(50)},
	"shard":       {line: "--rank 1 --world-size 3", check: all("behknqtwz")},
	"shuffle": {line: "--seed 7", check: func(_, out written) {
		got := out.letters()
		if sorted := strings.Join(slices.Sorted(slices.Values(strings.Split(got, ""))), ""); sorted != alphabet || got == alphabet {
			out.Errorf("shuffled to %q", got)
		}
	}},
	"slice": {line: "--start -1 --stop -6 --step -2", check: all("zxv")},
	"sort": {line: "--by '[metadata.color, metadata.letter]'", check: func(in, out written) {
		out.has(colored(in, "blue") + colored(in, "green") + colored(in, "orange") + colored(in, "red"))
	}},
	"split": {line: "--sizes '{train: 0.8, test: 0.2}'", check: parts(map[string]string{"train": alphabet[:21], "test": alphabet[21:]})},
	"unbatch": {line: "--items l --index n", in: "-i jsonl:lists.jsonl", check: func(_, out written) {
		out.has("aac")
		if v := fmt.Sprintln(out.value(1, "l"), out.value(1, "n"), out.value(2, "l")); v != "2 1 x\n" {
			out.Errorf("elements %s", v)
		}
	}},
	"weighted-sample": {line: `--n 5 --weight 'metadata.letter == "k" ? 1 : 0'`, check: all("kkkkk")},
	"zip": {line: "--keys '*' --keys 'other_*'", in: "-i data -i data", check: func(_, out written) {
		out.has(alphabet)
		if v := out.value(3, "other_metadata.letter"); v != "d" {
			out.Errorf("next to d is %v", v)
		}
	}},
}

// twice has each letter twice.
const twice = "aabbccddeeffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz"

// colored reads the letters of one colour.
func colored(w written, color string) (letters string) {
	for i := range w.Len() {
		if w.value(i, "metadata.color") == color {
			letters += w.value(i, "metadata.letter").(string)
		}
	}
	return letters
}

var mappers = map[string]oneComponent{
	"color-jitter": {line: "--brightness '[0.2, 0.4]'", check: unchangedBut(func(before, after image.Image) error {
		if equal(before, after, samePlace) {
			return errors.New("is as it was")
		}
		return nil
	})},
	"compose": {line: "--steps '{map: keep-keys, with: {keys: [metadata]}}' --steps '{map: rename, with: {names: {metadata: m}}}'", check: func(_, out written) {
		out.keys("m")
		if v := out.value(2, "m.letter"); out.Len() != 26 || v != "c" {
			out.Errorf("%d samples, the third is %v", out.Len(), v)
		}
	}},
	"compute": {line: `--set 'metadata.title=upper(metadata.letter) + "!"' --set 'n=len(metadata.color) * 2' --format yaml`, check: func(_, out written) {
		out.has(alphabet)
		if title, n := out.value(4, "metadata.title"), out.value(4, "n"); title != "E!" || n != int64(2*len(out.value(4, "metadata.color").(string))) || len(out.files("data/*_n.yaml")) != 26 {
			out.Errorf("set to %v and %v", title, n)
		}
	}},
	"convert": {line: "--to image=png --to metadata=json", check: func(in, out written) {
		unchangedBut(func(before, after image.Image) error {
			if !equal(before, after, samePlace) {
				return errors.New("has other pixels")
			}
			return nil
		})(in, out)
		if len(out.files("data/*_image.png")) != 26 || len(out.files("data/*_metadata.json")) != 26 || len(out.files("data/*")) != 52 {
			out.Errorf("files %v", out.files("data/*"))
		}
	}},
	"drop-keys": {line: "--keys image --keys vowels", check: func(_, out written) {
		out.has(alphabet)
		out.keys("consonants", "metadata")
	}},
	"duplicate": {line: "--item image --into copy", check: func(in, out written) {
		out.has(alphabet)
		if !equal(in.picture(7), out.value(7, "copy").(image.Image), samePlace) {
			out.Error("the copy is another image")
		}
	}},
	"exec": {line: "--items metadata --into up --code up.sh --env EXECUTIONS -- sh up.sh", check: func(_, out written) {
		out.has(alphabet)
		if v := out.value(4, "up"); v != "LETTER: E\n" {
			out.Errorf("made %q", v)
		}
	}},
	"python": {line: "--function f:up --items metadata --into up", check: func(_, out written) {
		out.has(alphabet)
		if v := out.value(4, "up"); v != "E" {
			out.Errorf("made %q", v)
		}
	}},
	"format-keys": {line: "--format 'my_*' --keys image", check: func(_, out written) {
		out.has(alphabet)
		out.keys("consonants", "metadata", "my_image", "vowels")
	}},
	"hash": {line: "--items metadata --into id --algorithm sha512", check: func(_, out written) {
		seen := map[any]bool{}
		for i := range out.Len() {
			seen[out.value(i, "id")] = true
		}
		if len(seen) != 26 {
			out.Errorf("26 samples have %d digests", len(seen))
		}
	}},
	"image-crop": {line: "--x 4 --y 6 --width 10 --height 8", check: func(in, out written) {
		out.size(10, 8)
		unchangedBut(func(before, after image.Image) error {
			if !equal(after, before, func(x, y int) (int, int) { return x + 4, y + 6 }) {
				return errors.New("is another part")
			}
			return nil
		})(in, out)
	}},
	"image-flip": {line: "--horizontal 1", check: unchangedBut(func(before, after image.Image) error {
		if !equal(before, after, func(x, y int) (int, int) { return 31 - x, y }) {
			return errors.New("is not its mirror image")
		}
		return nil
	})},
	"image-pad": {line: "--left 1 --top 2 --right 3 --bottom 4", check: func(in, out written) {
		out.size(36, 38)
		unchangedBut(func(before, after image.Image) error {
			if !equal(before, after, func(x, y int) (int, int) { return x + 1, y + 2 }) {
				return errors.New("is not within its border")
			}
			return nil
		})(in, out)
	}},
	"image-resize": {line: "--width 16", check: func(_, out written) {
		out.has(alphabet)
		out.size(16, 16)
	}},
	"image-stats": {line: "--into s", check: func(_, out written) {
		out.has(alphabet)
		if v := fmt.Sprint(out.value(9, "s.width")); v != "32" {
			out.Errorf("width %s", v)
		}
	}},
	"keep-keys": {line: "-- metadata image", check: func(_, out written) {
		out.has(alphabet)
		out.keys("image", "metadata")
	}},
	"random-crop": {line: "--width 9 --height 7", check: func(_, out written) {
		out.has(alphabet)
		out.size(9, 7)
	}},
	"center-crop": {line: "--width 9 --height 40", check: func(_, out written) {
		out.has(alphabet)
		out.size(9, 40)
	}},
	"image-orient": {line: "--items image", check: func(_, out written) {
		out.has(alphabet)
		out.size(32, 32)
	}},
	"random-resized-crop": {line: "--width 9 --height 7", check: func(_, out written) {
		out.has(alphabet)
		out.size(9, 7)
	}},
	"random-erasing": {line: "--probability 1 --scale 0.25 --scale 0.25 --ratio 1 --ratio 1 --value '[9, 250, 1]'", check: func(_, out written) {
		out.has(alphabet)
		n := 0
		for i := range 32 * 32 {
			if r, g, b, _ := out.picture(3).At(i%32, i/32).RGBA(); r>>8 == 9 && g>>8 == 250 && b>>8 == 1 {
				n++
			}
		}
		if n != 16*16 {
			out.Errorf("%d pixels have the colour", n)
		}
	}},
	"rename": {line: "--names image=photo --names vowels=v", check: func(_, out written) {
		out.has(alphabet)
		out.keys("consonants", "metadata", "photo", "v")
	}},
	"set-value": {line: "--key metadata.color --value '[1, red]'", check: func(_, out written) {
		out.has(alphabet)
		if v := fmt.Sprint(out.value(0, "metadata.color")); v != "[1 red]" {
			out.Errorf("set to %v", v)
		}
	}},
	"share": {line: "--unshare vowels", check: func(_, out written) {
		out.has(alphabet)
		if own, shared := len(out.files("data/*_vowels.yaml")), out.files("*.yaml"); own != 26 || !slices.Equal(shared, []string{"consonants.yaml"}) {
			out.Errorf("%d samples have their own vowels, and %v are shared", own, shared)
		}
	}},
}

// TestEveryComponent runs every operator and mapper from the command line and checks the
// output.
func TestEveryComponent(t *testing.T) {
	b := newBench(t)
	b.write("up.sh", `tr a-z A-Z < "$LARDER_IN/metadata.yaml" | head -n 1 > "$LARDER_OUT/up.txt"`)
	b.write("lists.jsonl", `{"metadata": {"letter": "a"}, "l": [1, 2]}
{"metadata": {"letter": "b"}, "l": []}
{"metadata": {"letter": "c"}, "l": ["x"]}
`)
	b.write("f.py", "def up(metadata): return metadata['letter'].upper()\n")
	hasPython := pythontest.Have(t)
	t.Chdir(b.dir)
	t.Setenv("LARDER_CACHE", b.cache)
	for kind, cases := range map[component.Kind]map[string]oneComponent{component.Op: operators, component.Map: mappers} {
		registered := component.All(kind)
		for _, c := range registered {
			t.Run(string(kind)+" "+c.Name, func(t *testing.T) {
				one, ok := cases[c.Name]
				if !ok {
					t.Fatal("is run by no test: add a case")
				}
				if c.Name == "python" && !hasPython {
					t.Skip("there is no Python 3.11 or newer on this machine")
				}
				in := "-i data"
				if one.in != "" {
					in = one.in
				}
				dir := filepath.Join("out", string(kind), c.Name)
				var stderr strings.Builder
				if status := mainIn(b, &stderr, words(fmt.Sprintf("%s %s %s -o %s --progress none %s", kind, c.Name, in, dir, one.line))...); status != 0 {
					t.Fatalf("status %d: %s", status, stderr.String())
				}
				one.check(open(t, "data"), written{T: t, Samples: samplesOf(dir), dir: dir})
			})
		}
		if len(cases) != len(registered) {
			t.Errorf("there are %d cases of %s for %d components: %q", len(cases), kind, len(registered), slices.Sorted(maps.Keys(cases)))
		}
	}
}

// samplesOf opens a directory if it is a dataset; it may hold several.
func samplesOf(dir string) component.Samples {
	ds, err := underfolder.Open(dir, nil, nil)
	if err != nil {
		return nil
	}
	return ds
}
