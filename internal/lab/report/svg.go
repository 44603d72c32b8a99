package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// paints lists a picture's colors by class, on light and on dark backgrounds.
var paints = []struct {
	class       string
	of          color.Color
	light, dark string
}{
	{"ink", color.Black, "#1f2328", "#e6edf3"},
	{"paper", color.White, "#ffffff", "#0d1117"},
	{"grey", Grey, "#808080", "#8b949e"},
	{"blue", Blue, "#1b6ca8", "#58a6ff"},
	{"orange", Orange, "#d96b0b", "#f0883e"},
	{"green", Green, "#1a7f37", "#3fb950"},
}

// fontStack begins with the system's own font for user interfaces.
const fontStack = `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif`

// styleSheet returns the colors as classes, including the colors for the reader's dark mode.
func styleSheet() string {
	var light, dark strings.Builder
	for _, paint := range paints {
		const rule = ".line.%[1]s{stroke:%[2]s}.area.%[1]s,text.%[1]s{fill:%[2]s}"
		fmt.Fprintf(&light, rule+"\n", paint.class, paint.light)
		fmt.Fprintf(&dark, rule+"\n", paint.class, paint.dark)
	}
	return "text{font-family:" + fontStack + "}.line{fill:none}\n" + light.String() +
		"@media (prefers-color-scheme:dark){\n" + dark.String() + "}\n"
}

// svg is a canvas for gonum's plots that writes SVG for browsers: the reader's fonts, text anchors instead of
// widths, and color classes for dark mode. Gonum's SVG canvas supports none of these. Plots contain no
// transformations or images, so svg omits both.
type svg struct {
	width, height vg.Length
	body          strings.Builder
	class         string
	lineWidth     vg.Length
	dash          []vg.Length
}

func (c *svg) Size() (x, y vg.Length)                       { return c.width, c.height }
func (c *svg) SetLineWidth(width vg.Length)                 { c.lineWidth = width }
func (c *svg) SetLineDash(pattern []vg.Length, _ vg.Length) { c.dash = pattern }
func (c *svg) Push()                                        {}
func (c *svg) Pop()                                         {}
func (c *svg) Rotate(float64)                               { panic("report: a plot with a transformation") }
func (c *svg) Translate(vg.Point)                           { panic("report: a plot with a transformation") }
func (c *svg) Scale(_, _ float64)                           { panic("report: a plot with a transformation") }
func (c *svg) DrawImage(vg.Rectangle, image.Image)          { panic("report: a plot with an image") }

// FillString is not called: anchored draws the texts.
func (c *svg) FillString(font.Face, vg.Point, string) { panic("report: a text without an anchor") }

// SetColor sets one of the paints.
func (c *svg) SetColor(used color.Color) {
	if used == nil {
		used = color.Black
	}
	r, g, b, a := used.RGBA()
	for _, paint := range paints {
		if pr, pg, pb, pa := paint.of.RGBA(); pr == r && pg == g && pb == b && pa == a {
			c.class = paint.class
			return
		}
	}
	panic(fmt.Sprintf("report: colour %v is not one of the paints", used))
}

func (c *svg) Stroke(path vg.Path) {
	if c.lineWidth <= 0 {
		return
	}
	dash := ""
	if len(c.dash) > 0 {
		var lengths []string
		for _, length := range c.dash {
			lengths = append(lengths, number(length))
		}
		dash = ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
	fmt.Fprintf(&c.body, "<path class=\"line %s\" stroke-width=\"%s\"%s d=\"%s\"/>\n", c.class, number(c.lineWidth), dash, c.data(path))
}

func (c *svg) Fill(path vg.Path) {
	fmt.Fprintf(&c.body, "<path class=\"area %s\" d=\"%s\"/>\n", c.class, c.data(path))
}

// data returns a path's commands. Y grows upwards in plots and downwards in SVG.
func (c *svg) data(path vg.Path) string {
	var commands []string
	add := func(letter string, at vg.Point) {
		commands = append(commands, letter+number(at.X)+","+number(c.height-at.Y))
	}
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			add("M", part.Pos)
		case vg.LineComp:
			add("L", part.Pos)
		case vg.ArcComp:
			commands = append(commands, c.circle(part))
		case vg.CloseComp:
			commands = append(commands, "Z")
		default:
			panic("report: a plot with a curve")
		}
	}
	return strings.Join(commands, "")
}

// circle returns the commands for a whole circle, the only arc of the glyphs in use. The path is already at
// the start point.
func (c *svg) circle(part vg.PathComp) string {
	if math.Abs(part.Angle) < 2*math.Pi {
		panic("report: a plot with a part of a circle")
	}
	x, y, r := part.Pos.X, c.height-part.Pos.Y, part.Radius
	half := func(to vg.Length) string {
		return fmt.Sprintf("A%s,%s 0 1 0 %s,%s", number(r), number(r), number(to), number(y))
	}
	return half(x-r) + half(x+r)
}

// number writes a length in points with two decimals.
func number(length vg.Length) string {
	written := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", length.Points()), "0"), ".")
	if written == "-0" {
		return "0"
	}
	return written
}

// WriteTo writes the picture.
func (c *svg) WriteTo(w io.Writer) (int64, error) {
	count, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]spt\" height=\"%[2]spt\" viewBox=\"0 0 %[1]s %[2]s\">\n"+
		"<style>\n%[3]s</style>\n<rect class=\"area paper\" width=\"100%%\" height=\"100%%\"/>\n%[4]s</svg>\n", number(c.width), number(c.height), styleSheet(), c.body.String())
	return int64(count), err
}

// underneath returns the canvas that a plot part is drawn on.
func underneath(canvas vg.Canvas) *svg {
	for {
		switch part := canvas.(type) {
		case *draw.Canvas:
			canvas = part.Canvas
		case draw.Canvas:
			canvas = part.Canvas
		default:
			return canvas.(*svg)
		}
	}
}

// anchored draws texts with an anchor at the position given by the plot, so that the reader's font may differ
// in width from the layout font.
type anchored struct{ text.Plain }

// Draw is called with a canvas from a plot written by [WriteSVG].
func (h anchored) Draw(canvas vg.Canvas, written string, style text.Style, at vg.Point) {
	c := underneath(canvas)
	c.SetColor(style.Color)
	anchor := ""
	switch {
	case style.XAlign <= (text.XCenter+text.XRight)/2:
		anchor = ` text-anchor="end"`
	case style.XAlign <= (text.XLeft+text.XCenter)/2:
		anchor = ` text-anchor="middle"`
	}
	// The plot positions the box; SVG positions the baseline.
	up := style.Height(written)*vg.Length(style.YAlign) - h.Extents(style.Font).Ascent + style.Font.Size
	sin, cos := math.Sincos(style.Rotation)
	x, y := at.X-up*vg.Length(sin), c.height-(at.Y+up*vg.Length(cos))
	turn := ""
	if style.Rotation != 0 {
		turn = fmt.Sprintf(` transform="rotate(%.0f %s %s)"`, -style.Rotation*180/math.Pi, number(x), number(y))
	}
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(written)) // a strings.Builder returns no errors
	fmt.Fprintf(&c.body, "<text class=\"%s\" x=\"%s\" y=\"%s\" font-size=\"%s\"%s%s>%s</text>\n",
		cmp.Or(c.class, "ink"), number(x), number(y), number(style.Font.Size), anchor, turn, escaped.String())
}
