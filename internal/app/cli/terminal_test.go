package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// terminal implements the parts of a terminal that a full-screen program needs. It records
// unknown sequences.
type terminal struct {
	main, other   grid
	onOther       bool
	hidden        bool // the cursor
	cutting       bool // lines longer than the width
	unknown       []string
	width, height int
	rest          string // the incomplete end of the input
}

type grid struct {
	cells    [][]string
	row, col int
}

func newTerminal(width, height int) *terminal {
	t := &terminal{width: width, height: height}
	t.main.cells, t.other.cells = t.blank(), t.blank()
	return t
}

func (t *terminal) blank() [][]string {
	cells := make([][]string, t.height)
	for i := range cells {
		cells[i] = make([]string, t.width)
	}
	return cells
}

func (t *terminal) grid() *grid {
	if t.onOther {
		return &t.other
	}
	return &t.main
}

// Write implements io.Writer.
func (t *terminal) Write(p []byte) (int, error) {
	s := t.rest + string(p)
	for s != "" && utf8.FullRuneInString(s) {
		if s[0] != 0x1b {
			r, size := utf8.DecodeRuneInString(s)
			t.put(r)
			s = s[size:]
			continue
		}
		end := 2 + strings.IndexFunc(s[min(2, len(s)):], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 2 {
			break
		}
		t.control(s[2:end], s[end])
		s = s[end+1:]
	}
	t.rest = s
	return len(p), nil
}

func (t *terminal) put(r rune) {
	g := t.grid()
	switch {
	case r == '\n':
		if g.row++; g.row == t.height {
			g.cells = append(g.cells[1:], make([]string, t.width))
			g.row--
		}
		g.col = 0
	case r == '\r':
		g.col = 0
	case r < ' ':
		t.unknown = append(t.unknown, strconv.Quote(string(r)))
	default:
		if g.col >= t.width {
			if t.cutting {
				g.col = t.width - 1
			} else {
				t.put('\n')
			}
		}
		g.cells[g.row][g.col] = string(r)
		if g.col++; r >= 0x4e00 && r < 0xa000 && g.col < t.width {
			g.cells[g.row][g.col] = "wide"
			g.col++
		}
	}
}

func (t *terminal) control(args string, what byte) {
	g := t.grid()
	switch args + string(what) {
	case "?1049h":
		t.onOther, t.other = true, grid{cells: t.blank()}
	case "?1049l":
		t.onOther = false
	case "?25l", "?25h":
		t.hidden = what == 'l'
	case "?7l", "?7h":
		t.cutting = what == 'l'
	case "2J":
		g.cells = t.blank()
	case "K", "J":
		clear(g.cells[g.row][min(g.col, t.width-1):])
		for _, row := range g.cells[g.row+1:] {
			if what == 'J' {
				clear(row)
			}
		}
	default:
		row, col, ok := strings.Cut(args, ";")
		switch {
		case what == 'H' && ok:
			g.row, _ = strconv.Atoi(row)
			g.col, _ = strconv.Atoi(col)
			g.row, g.col = min(g.row, t.height)-1, min(g.col, t.width)-1
		case what == 'A':
			up, _ := strconv.Atoi(args)
			g.row = max(0, g.row-max(1, up))
		case what != 'm':
			t.unknown = append(t.unknown, args+string(what))
		}
	}
}

// lines returns the picture, without blanks at the end.
func (t *terminal) lines() []string {
	var lines []string
	for _, row := range t.grid().cells {
		var b strings.Builder
		for _, c := range row {
			switch c {
			case "":
				b.WriteByte(' ')
			case "wide":
			default:
				b.WriteString(c)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
