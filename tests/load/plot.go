package load

import (
	"encoding/csv"
	"image/color"
	"io"
	"strconv"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// curve contains the latencies for a kind of transactions, in seconds: the value at index i is the i-th
// percentile.
type curve struct {
	name    string
	seconds []float64
}

// colours holds the curves' colors, in curve order.
var colours = []color.Color{report.Blue, report.Orange}

// curves returns the latencies of actions and transfers, rounded to milliseconds.
func (r *Result) curves() (found []curve) {
	for _, kind := range []struct {
		name  string
		among func(*record) bool
	}{
		{"Haggle actions", isAction},
		{"plain SPL transfers", isTransferInStage},
	} {
		all := measured(r.records.records, confirmation, kind.among)
		if len(all) == 0 {
			continue
		}
		c := curve{name: kind.name}
		for percent := range hundred + 1 {
			c.seconds = append(c.seconds, report.Quantile(all, percent).Round(time.Millisecond).Seconds())
		}
		found = append(found, c)
	}
	return found
}

// draw writes a plot of the curves as SVG.
func draw(w io.Writer, curves []curve) error {
	p := report.NewPlot("Confirmed within", "seconds from the first broadcast", "percent")
	p.X.Min, p.Y.Max = 0, hundred
	for i, c := range curves {
		var points plotter.XYs
		for percent, seconds := range c.seconds {
			points = append(points, plotter.XY{X: seconds, Y: float64(percent)})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color = colours[i]
		p.Add(line)
		p.Legend.Add(c.name, line)
	}
	return report.WriteSVG(w, p)
}

// writeCurves writes the curves as CSV, so that the plot can be redrawn even if nothing is run.
func writeCurves(w io.Writer, curves []curve) error {
	out := csv.NewWriter(w)
	names := []string{"percent"}
	for _, c := range curves {
		names = append(names, c.name)
	}
	_ = out.Write(names) // Error returns the first error
	for percent := range hundred + 1 {
		row := []string{strconv.Itoa(percent)}
		for _, c := range curves {
			row = append(row, strconv.FormatFloat(c.seconds[percent], 'f', 3, 64))
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}
