package player

import (
	"cmp"
	"context"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// leastInvited is the minimum number of agents that a player invites to a packages chat. A two-member package
// is just a sale, also negotiable in a text chat.
const leastInvited = 2

// invite invites the agent least often met by the player, among agents with an opposite interest. Once in
// [Personality].Packages invitations, it invites two, three or four agents in turn to a packages chat
// instead, if as many interests fit.
func (p *Player) invite(_ context.Context, desk trader.Desk) (arena.Invite, error) {
	want := p.want(&desk)
	if want == nil || len(desk.Chats)+len(desk.Pending) >= p.personality.Chats {
		return arena.Invite{}, nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	invited, mode := p.counterparts(&desk, want, false), arena.ModeTalk
	invited = invited[:min(len(invited), 1)]
	if every := p.personality.Packages; every > 0 && p.invitations >= every-1 {
		all := p.counterparts(&desk, want, p.personality.Both)
		if len(all) >= leastInvited {
			most := leastInvited + p.packages%(arena.MaxMembers-leastInvited)
			invited, mode = all[:min(len(all), most)], arena.ModePackages
		}
	}
	if mode == arena.ModePackages {
		p.invitations, p.packages = 0, p.packages+1
	} else {
		p.invitations += len(invited)
	}
	for _, id := range invited {
		p.met[id]++
	}
	return arena.Invite{Agents: invited, Mode: mode}, nil
}

// counterparts returns the agents with an opposite or two-sided interest in the wanted token and no chat with
// the player. Agents in the fewest chats come first, because busy agents decline; then agents least often met
// by the player, in random order.
func (p *Player) counterparts(desk *trader.Desk, want *arena.Want, bothSides bool) (ids []string) {
	for _, other := range desk.View.Agents {
		of := other.Interest.Want
		gone := other.Availability == arena.AvailabilityLeft || other.Availability == arena.AvailabilityUnresponsive
		switch {
		case other.ID == desk.Self || gone || talks(desk, other.ID):
		case of != nil && of.Token == want.Token && (bothSides || of.Side != want.Side):
			ids = append(ids, other.ID)
		}
	}
	chats := map[string]int{}
	for _, chat := range desk.View.Chats {
		for _, member := range chat.Members {
			chats[member]++
		}
	}
	p.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(chats[a], chats[b]), cmp.Compare(p.met[a], p.met[b]))
	})
	return ids
}

// talks reports whether the player is in a chat with an agent.
func talks(desk *trader.Desk, other string) bool {
	return slices.ContainsFunc(desk.Chats, func(c trader.Chat) bool { return slices.Contains(c.Members, other) })
}

// admit enters a chat if the player is not busy, and a packages chat only if it can trade: otherwise the
// members would bargain in vain.
func (p *Player) admit(_ context.Context, invitation trader.Invitation) (bool, error) {
	isFree := len(invitation.Chats) < p.personality.Chats
	return isFree && (invitation.Mode == arena.ModeTalk || p.want(&invitation.Desk) != nil), nil
}
