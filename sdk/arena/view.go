package arena

// View is what everybody sees of a market at a time.
type View struct {
	// Config describes the market, without its seed.
	Config Config      `json:"config"`
	Phase  Phase       `json:"phase"`
	Price  Price       `json:"price"`
	Trades int         `json:"trades"`
	Agents []AgentView `json:"agents"`
}

// AgentView is what everybody sees of an agent.
type AgentView struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Availability Availability `json:"availability"`
	Interest     Interest     `json:"interest"`
	Record       Record       `json:"record"`
}

// View returns the public state. The interests are the soft order book.
func (m *Market) View() View {
	v := View{Config: m.config, Phase: m.phase, Price: m.price, Trades: m.trades}
	v.Config.Seed = [32]byte{}
	for _, a := range m.order {
		v.Agents = append(v.Agents, AgentView{
			ID: a.id, Name: a.name, Availability: a.availability(), Interest: a.interest, Record: a.record,
		})
	}
	return v
}

// Review returns an agent's own state. Its number is that of the latest review that was sent.
func (m *Market) Review(agent string) (Review, bool) {
	a := m.agents[agent]
	if a == nil {
		return Review{}, false
	}
	return m.reviewOf(a), true
}
