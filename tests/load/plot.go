package load

import (
	"image/color"
	"io"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/haggle-protocol/haggle/internal/report"
)

// draw writes a plot of the latencies of actions and transfers as SVG.
func (r *Result) draw(w io.Writer) error {
	p := report.NewPlot("Confirmed within", "seconds from the first broadcast", "percent")
	p.X.Min, p.Y.Max = 0, hundred
	for _, curve := range []struct {
		name   string
		among  func(*record) bool
		colour color.Color
	}{
		{"Haggle actions", isAction, report.Blue},
		{"plain SPL transfers", isTransferInStage, report.Orange},
	} {
		if all := measured(r.records.records, confirmation, curve.among); len(all) > 0 {
			line, err := plotter.NewLine(percentiles(all))
			if err != nil {
				return err
			}
			line.Color = curve.colour
			p.Add(line)
			p.Legend.Add(curve.name, line)
		}
	}
	return report.WriteSVG(w, p)
}

func percentiles(latencies []time.Duration) (points plotter.XYs) {
	for percent := range hundred + 1 {
		points = append(points, plotter.XY{X: report.Quantile(latencies, percent).Seconds(),
			Y: float64(percent)})
	}
	return points
}
