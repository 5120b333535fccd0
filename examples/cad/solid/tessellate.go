package solid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	side     = 8        // cells along the edge of a block
	corners  = side + 1 // corners along the edge of a block
	maxCells = 1 << 28
)

// Tessellate returns the mesh of a solid on a grid of cubes with edges of length cell.
// The mesh is watertight: each edge belongs to exactly two triangles. Edges and corners
// stay sharp; details smaller than a cell are lost. On one type of processor, the same
// solid and cell give the same bytes, for any number of processors.
//
// The algorithm is dual contouring (Ju, Losasso, Schaefer, Warren: Dual Contouring of
// Hermite Data, 2002), with a vertex for each sheet of the surface in a cell (Nielson:
// Dual Marching Cubes, 2004). Blocks of cells that are farther from the surface than
// their size are skipped.
//
// Errors are a grid of more than 2²⁸ cells, a solid of which nothing is found, a distance
// that changes faster than [Solid] allows, and a cancelled ctx.
func Tessellate(ctx context.Context, s Solid, cell float64) (Mesh, error) {
	g, err := newGrid(s, cell)
	if err != nil {
		return Mesh{}, err
	}
	err = parallel(ctx, len(g.blocks), func() func(int) {
		var work sampling
		return func(i int) { g.blocks[i] = work.block(g, i) }
	})
	if err != nil {
		return Mesh{}, err
	}
	var m Mesh
	for _, b := range g.blocks {
		if b != nil {
			b.base = uint32(len(m.Vertices) / 3)
			m.Vertices = append(m.Vertices, b.vertices...)
		}
	}
	if len(m.Vertices) == 0 {
		return Mesh{}, fmt.Errorf("solid: nothing found in cells of %v: the solid is empty or thinner than that", cell)
	}
	var torn atomic.Bool
	err = parallel(ctx, len(g.blocks), func() func(int) {
		return func(i int) {
			if b := g.blocks[i]; b != nil && !g.connect(b, i, m) {
				torn.Store(true)
			}
		}
	})
	if err != nil {
		return Mesh{}, err
	}
	if torn.Load() {
		return Mesh{}, errors.New("solid: the surface leaves the solid's bounds, or its distance changes faster than by 1 a unit")
	}
	for _, b := range g.blocks {
		if b != nil {
			m.Triangles = append(m.Triangles, b.triangles...)
		}
	}
	return m, nil
}

// parallel calls work(0) to work(n-1). Each goroutine has its own work function.
func parallel(ctx context.Context, n int, newWork func() func(int)) error {
	var taken atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			work := newWork()
			for ctx.Err() == nil {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return
				}
				work(i)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("solid: meshing stopped: %w", context.Cause(ctx))
	}
	return nil
}

// A grid is the cells around a solid, in blocks; blocks without surface are nil.
type grid struct {
	solid  Solid
	cell   float64
	origin Vec
	size   [3]int // in blocks
	blocks []*block
}

type block struct {
	masks     [side * side * side]uint8
	first     [side * side * side]uint16 // vertex of a cell's first sheet
	forks     map[int]uint32             // first vertex of a forked face, by 3·cell + axis
	vertices  []float32
	base      uint32 // number of vertices in the blocks before
	triangles []uint32
}

func newGrid(s Solid, cell float64) (*grid, error) {
	if err := errors.Join(checkSolids("mesh", s), checkLength("cell", cell)); err != nil {
		return nil, err
	}
	bounds := s.Bounds()
	if err := bounds.check(); err != nil {
		return nil, err
	}
	// A cell and a bit all around is outside. The bit keeps faces of the solid, which often
	// have round coordinates, from coinciding with faces of cells.
	g := &grid{solid: s, cell: cell, origin: bounds.Min.Sub(Vec{1.29, 1.37, 1.43}.Mul(cell))}
	total := 1.0
	for a, length := range bounds.Size() {
		blocks := math.Ceil((length/cell + 3) / side)
		total *= blocks * side
		g.size[a] = int(min(blocks, maxCells))
	}
	if total > maxCells {
		return nil, fmt.Errorf("solid: a solid of %.4g by %.4g by %.4g in cells of %v is %.3g cells, and %d are allowed; use cells of %.2g or larger",
			bounds.Size()[0], bounds.Size()[1], bounds.Size()[2], cell, total, maxCells, cell*math.Cbrt(total/maxCells)*1.05)
	}
	g.blocks = make([]*block, g.size[0]*g.size[1]*g.size[2])
	return g, nil
}

func (g *grid) start(block int) [3]int {
	return [3]int{block % g.size[0] * side, block / g.size[0] % g.size[1] * side, block / g.size[0] / g.size[1] * side}
}

func (g *grid) corner(at [3]int) Vec {
	return g.origin.Add(Vec{float64(at[0]), float64(at[1]), float64(at[2])}.Mul(g.cell))
}

// find returns the block of the cell at a position, and its index in the block. The
// block is nil if it has no surface.
func (g *grid) find(at [3]int) (*block, int) {
	for a := range 3 {
		if at[a] < 0 {
			return nil, 0
		}
	}
	b := g.blocks[at[0]/side+g.size[0]*(at[1]/side+g.size[1]*(at[2]/side))]
	return b, at[0]%side + side*(at[1]%side+side*(at[2]%side))
}

// connect creates the triangles around the edges that start in a block. It returns false
// if the surface continues outside all cells with a surface.
func (g *grid) connect(b *block, number int, m Mesh) bool {
	start := g.start(number)
	for cell, mask := range b.masks {
		if mask == 0 || mask == 255 {
			continue
		}
		at := plus(start, place3(cell, side))
		for a := range 3 {
			if crossed(mask, 4*a) && !g.surround(b, at, a, m) {
				return false
			}
		}
	}
	return true
}

// surround creates the triangles around the edge along axis a that starts at a cell's
// first corner: a polygon with a vertex from each of the four cells around it. If two
// lines of the surface cross the face between two of the cells, both may join the same
// vertices; a vertex in the middle of each line separates them. The triangles go to a
// block; it returns false like connect.
func (g *grid) surround(to *block, at [3]int, a int, m Mesh) bool {
	b, c := next(a), next(next(a))
	var around [4]struct {
		in         *block
		cell, edge int
	}
	for i := range around { // counter-clockwise, seen from where a points
		db, dc := (i^i>>1)&1, i>>1
		from := at
		from[b] -= db
		from[c] -= dc
		in, cell := g.find(from)
		edge := 4*a + db + 2*dc
		if in == nil || !crossed(in.masks[cell], edge) {
			return false
		}
		around[i].in, around[i].cell, around[i].edge = in, cell, edge
	}
	loop, apex := make([]uint32, 0, 8), -1 // triangles start at loop[apex]
	for i, q := range around {
		p := &patterns[q.in.masks[q.cell]]
		loop = append(loop, q.in.base+uint32(q.in.first[q.cell])+uint32(p.sheetOf[q.edge]))
		// The cell on the upper side of a face has its forks.
		axis, upper := [4]int{b, c, b, c}[i], around[[4]int{0, 1, 3, 0}[i]]
		if mask := upper.in.masks[upper.cell]; patterns[mask].forked>>axis&1 == 1 {
			line := insideEnd(mask, upper.edge) >> next(next(axis)) & 1
			apex = len(loop)
			loop = append(loop, upper.in.base+upper.in.forks[3*upper.cell+axis]+uint32(line))
		}
	}
	if insideEnd(around[0].in.masks[around[0].cell], 4*a) != 0 { // the surface faces the other way
		slices.Reverse(loop)
		apex = len(loop) - 1 - apex
	}
	n := len(loop)
	if n == 4 {
		apex = g.diagonal(loop, m)
	}
	for i := 1; i < n-1; i++ {
		to.triangles = append(to.triangles, loop[apex], loop[(apex+i)%n], loop[(apex+i+1)%n])
	}
	return true
}

// diagonal returns the vertex, 0 or 1, at which the diagonal of a quad starts that is
// closer to the surface: it follows an edge instead of cutting it.
func (g *grid) diagonal(loop []uint32, m Mesh) int {
	var off, length [2]float64
	for i := range 2 {
		v, w := m.vertex(loop[i]), m.vertex(loop[i+2])
		off[i] = math.Abs(g.solid.Distance(v.Add(w).Mul(0.5)))
		length[i] = w.Sub(v).Length()
	}
	if math.Abs(off[0]-off[1]) < 0.001*g.cell {
		off = length
	}
	if off[1] < off[0] {
		return 1
	}
	return 0
}
