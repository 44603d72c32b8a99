// Package profile describes a party's negotiation: steps, concessions and the strategies that fit the offers.
// Commands use it to show simulated sessions and on-chain negotiations.
package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
)

// View is a party's profile. Shares are numbers: 0.25 is a quarter.
type View struct {
	Offers int       `json:"offers"`
	Steps  stepsView `json:"steps"`
	// Conceded is the conceded share of the initial gap, and ConcededPerStep the mean per step.
	Conceded        float64   `json:"conceded"`
	ConcededPerStep float64   `json:"conceded_per_step"`
	Fits            []fitView `json:"fits"`
}

type stepsView struct {
	Silent      int `json:"silent"`
	Concession  int `json:"concession"`
	Nice        int `json:"nice"`
	Fortunate   int `json:"fortunate"`
	Selfish     int `json:"selfish"`
	Unfortunate int `json:"unfortunate"`
}

type fitView struct {
	// Model is "boulware", "linear", "conceder", "tit-for-tat", "hardliner", or "unknown" for too few offers.
	Model analysis.Model `json:"model"`
	// Exponent is e in a concession t^(1/e); 0 for other models.
	Exponent float64 `json:"exponent"`
	// Ratio is the share of a concession that tit-for-tat returns; 0 for other models.
	Ratio float64 `json:"ratio"`
	// Goodness is the explained share of the squared steps, adjusted for the number of parameters.
	Goodness float64 `json:"goodness"`
}

// Of returns a profile's view.
func Of(p analysis.Profile) View {
	v := View{
		Offers: p.Offers, Conceded: Rounded(p.Conceded), ConcededPerStep: Rounded(p.Rate),
		Steps: stepsView{
			Silent: p.Steps[analysis.Silent], Concession: p.Steps[analysis.Concession],
			Nice: p.Steps[analysis.Nice], Fortunate: p.Steps[analysis.Fortunate],
			Selfish: p.Steps[analysis.Selfish], Unfortunate: p.Steps[analysis.Unfortunate],
		},
		Fits: []fitView{},
	}
	for _, fit := range p.Fits {
		v.Fits = append(v.Fits, fitView{
			Model: fit.Model, Exponent: Rounded(fit.Exponent), Ratio: Rounded(fit.Ratio),
			Goodness: Rounded(fit.Goodness),
		})
	}
	return v
}

// Lines formats the profile as text lines.
func (v View) Lines() []string {
	lines := []string{fmt.Sprintf("offers: %d; conceded %s of the initial gap", v.Offers, Percent(v.Conceded))}
	var steps []string
	for _, step := range []struct {
		name  string
		count int
	}{
		{"concession", v.Steps.Concession}, {"silent", v.Steps.Silent}, {"selfish", v.Steps.Selfish},
		{"nice", v.Steps.Nice}, {"fortunate", v.Steps.Fortunate}, {"unfortunate", v.Steps.Unfortunate},
	} {
		if step.count > 0 {
			steps = append(steps, fmt.Sprintf("%d %s", step.count, step.name))
		}
	}
	if len(steps) > 0 {
		lines = append(lines, "steps: "+strings.Join(steps, ", "))
	}
	for _, fit := range v.Fits {
		lines = append(lines, fit.text())
	}
	return lines
}

func (f fitView) text() string {
	const digits = 3
	switch f.Model {
	case analysis.Unknown:
		return "too few offers to recognize a strategy"
	case analysis.Hardliner:
		return "hardliner: the same demand in every offer"
	case analysis.TitForTat:
		return fmt.Sprintf("tit-for-tat with ratio %s: explains %s",
			strconv.FormatFloat(f.Ratio, 'g', digits, 64), Percent(f.Goodness))
	}
	return fmt.Sprintf("%s, e = %s: explains %s", f.Model,
		strconv.FormatFloat(f.Exponent, 'g', digits, 64), Percent(f.Goodness))
}

// Rounded rounds a figure to the digits used in documents.
func Rounded(figure float64) float64 {
	const parts = 1e6
	// Adding 0 turns -0 into 0.
	return math.Round(figure*parts)/parts + 0
}

// Percent writes a share with one decimal.
func Percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
}
