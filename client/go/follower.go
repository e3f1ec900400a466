package waystar

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "waystar.dev/proto/waystar/v1"
)

const (
	putAgainDelay = time.Second
	// The server takes no more changes in a message. Its bytes stay well below the limit.
	maxChanges   = 10_000
	messageBytes = 1 << 20
)

// An AgentPath is the newest state of an agent. Before the first one all fields are empty.
type AgentPath struct {
	// Answer is the newest answer to the agent's query. It stays while there is a problem.
	Answer *pb.FindPathResponse
	// Problem is why there is no answer now.
	Problem error
	// HasEnded is true while the server does not follow the agent: Problem is why.
	HasEnded bool
	// Version is that of the map that the state is for.
	Version *pb.Version
}

// Ahead returns the cells that follow this place on the path: none if the path is not right, or does not lead over it.
// Cells behind a crossing of the path may be on another map.
func (p AgentPath) Ahead(here *pb.Location) []*pb.Cell {
	cell, points := here.GetCell(), p.Answer.GetPath().GetPoints()
	for i, point := range points {
		if p.Problem == nil && cell != nil && point.X == cell.X && point.Y == cell.Y {
			return points[i+1:]
		}
	}
	return nil
}

// A Follower keeps the paths of agents that walk, for a game loop: change agents, call Flush once a tick, and take
// what is new. When a stream ends because the server is gone, restarts or is too busy, the Follower opens another one,
// and puts all agents where they are, with the paths that they have. It puts an agent again with a later Flush, if
// that has ended because its map was replaced or is not loaded yet, or the server has no room.
//
// Messages that were passed to it must not change. All methods may be called from any goroutine.
type Follower struct {
	client   *Client
	context  context.Context
	settings *pb.FollowAgentsRequest
	hasNews  chan struct{}
	// Held while a message is sent, so that messages stay in order. It is locked before mutex.
	sending sync.Mutex

	mutex    sync.Mutex
	err      error
	stream   agentStream
	agents   map[uint64]*agent
	news     map[uint64]AgentPath
	progress map[string]*pb.MapProgress
	number   uint64
	// The agents that Flush sends, and whether they are put.
	changed map[uint64]bool
}

type agentStream = grpc.BidiStreamingClient[pb.FollowAgentsRequest, pb.FollowAgentsResponse]

type agent struct {
	// Its start is where the agent is.
	query *pb.FindPathRequest
	// Number of the change that set the query. States for older queries are ignored.
	asked uint64
	path  AgentPath
	// The newest version at which the answer was right, if it was.
	right *pb.Version
	// This stream has sent a state for the newest query: progress is about it too.
	isFollowed bool
}

// Reports whether it is neither followed nor put again.
func (a *agent) hasEnded() bool { return a.path.HasEnded && a.isFollowed }

// FollowAgents makes a Follower, which ends with the context. The settings are those of each stream: at_most_every,
// off_path and cheaper_every. They may be nil.
func (c *Client) FollowAgents(ctx context.Context, settings *pb.FollowAgentsRequest) *Follower {
	follower := &Follower{client: c, context: ctx, settings: settings, hasNews: make(chan struct{}, 1),
		agents: map[uint64]*agent{}, news: map[uint64]AgentPath{}, progress: map[string]*pb.MapProgress{},
		changed: map[uint64]bool{}}
	go func() {
		err := takeAll(ctx, c, follower.open, follower.take)
		follower.mutex.Lock()
		follower.err = err
		follower.mutex.Unlock()
		close(follower.hasNews)
	}()
	return follower
}

// Put follows an agent, or replaces its query. Flush sends this change and those below.
func (f *Follower) Put(id uint64, query *pb.FindPathRequest) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.ask(id, proto.CloneOf(query))
}

// MoveTo says where an agent is now. It does nothing for an agent that was not put, as MoveToMap, SendTo and Remove.
func (f *Follower) MoveTo(id uint64, place *pb.Location) { f.MoveToMap(id, "", place) }

// MoveToMap says that an agent has come to that place, through a portal if it was on another map before.
func (f *Follower) MoveToMap(id uint64, mapID string, place *pb.Location) {
	f.with(id, func(moved *agent) {
		query := moved.query
		query.Start = place
		if mapID != "" && mapID != query.Map {
			goalMap := cmp.Or(query.GoalMap, query.Map)
			query.Map, query.GoalMap, query.View = mapID, goalMap, nil
			if goalMap == mapID {
				query.GoalMap = ""
			}
			f.ask(id, query)
		} else if !moved.hasEnded() && !f.changed[id] {
			f.changed[id] = false
		}
	})
}

// SendTo gives an agent another goal.
func (f *Follower) SendTo(id uint64, goal *pb.Location) {
	f.with(id, func(sent *agent) {
		sent.query.Goals = []*pb.Location{goal}
		f.ask(id, sent.query)
	})
}

// Remove ends following an agent.
func (f *Follower) Remove(id uint64) {
	f.with(id, func(*agent) {
		delete(f.news, id)
		delete(f.agents, id)
		f.changed[id] = false
	})
}

// Flush sends the changes since the last call. It waits while the server does not read. Its error is why the Follower
// has ended: its context has, or another stream would fail too, as with a wrong token.
func (f *Follower) Flush() error {
	f.sending.Lock()
	defer f.sending.Unlock()
	for {
		stream, message, err := f.takeChanges()
		// If the stream has ended, there is soon another one.
		if message == nil || stream.Send(message) != nil {
			return err
		}
	}
}

// News has a value when there is something to take, and is closed when the Follower has ended.
func (f *Follower) News() <-chan struct{} { return f.hasNews }

// TakeNews returns the agents whose state is new since the last call.
func (f *Follower) TakeNews() map[uint64]AgentPath {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	taken := f.news
	f.news = map[uint64]AgentPath{}
	return taken
}

// Find returns the newest state of an agent, and whether the agent was put.
func (f *Follower) Find(id uint64) (path AgentPath, ok bool) {
	f.with(id, func(found *agent) { path, ok = found.path, true })
	return path, ok
}

func (f *Follower) with(id uint64, use func(*agent)) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if known := f.agents[id]; known != nil {
		use(known)
	}
}

// Lets an agent be put with a query that is not that of its path.
func (f *Follower) ask(id uint64, query *pb.FindPathRequest) {
	delete(f.news, id)
	f.agents[id] = &agent{query: query}
	f.put(id)
}

// Lets an agent be put where it is, with the path that it has.
func (f *Follower) put(id uint64) {
	of := f.agents[id]
	latest := f.progress[of.query.Map].GetVersion()
	if of.isFollowed && of.right.GetEpoch() == latest.GetEpoch() && of.right.GetRevision() < latest.GetRevision() {
		of.right = latest
	}
	of.asked = f.number + 1
	of.isFollowed = false
	f.changed[id] = true
}

func (f *Follower) changeOf(id uint64) *pb.AgentChange {
	f.number++
	change := &pb.AgentChange{Agent: id, Number: f.number}
	of := f.agents[id]
	switch {
	case of == nil:
		change.Change = &pb.AgentChange_Remove{Remove: &pb.RemoveAgent{}}
	case !f.changed[id]:
		change.Change = &pb.AgentChange_At{At: of.query.Start}
	default:
		change.Change = &pb.AgentChange_Put{Put: proto.CloneOf(of.query)}
		if of.right != nil && of.path.Answer.Outcome == pb.Outcome_OUTCOME_FOUND {
			change.Held = heldPath(of.path.Answer, of.right)
		}
	}
	return change
}

// Returns what the server reads of a path that it gets back, and nil if that is too much for a message.
func heldPath(answer *pb.FindPathResponse, right *pb.Version) *pb.HeldPath {
	path := proto.CloneOf(answer.Path)
	path.Surface, path.Corridor, path.Polygons = nil, nil, nil
	if len(path.Points)+len(path.Directions)+len(path.Nodes) > 0 {
		path.Positions = nil
	}
	if proto.Size(path) > messageBytes {
		return nil
	}
	return &pb.HeldPath{Path: path, Cost: answer.Cost, Version: right}
}

// Takes changes for one message on the stream, if there are any.
func (f *Follower) takeChanges() (agentStream, *pb.FollowAgentsRequest, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.stream == nil || len(f.changed) == 0 {
		return nil, nil, f.err
	}
	message := &pb.FollowAgentsRequest{}
	// They may be sent again and again.
	proto.Merge(message, f.settings)
	bytes := 0
	for id := range f.changed {
		if len(message.Changes) == maxChanges || bytes > messageBytes {
			break
		}
		change := f.changeOf(id)
		bytes += proto.Size(change)
		message.Changes = append(message.Changes, change)
		delete(f.changed, id)
	}
	return f.stream, message, f.err
}

// Opens a stream, and puts all agents on it.
func (f *Follower) open() (receiver[pb.FollowAgentsResponse], error) {
	stream, err := f.client.Paths.FollowAgents(f.context)
	if err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.stream = stream
	clear(f.changed)
	for id := range f.agents {
		f.put(id)
	}
	clear(f.progress)
	// The server may not read on before its answers are read.
	go func() { _ = f.Flush() }()
	return stream, nil
}

func (f *Follower) take(message *pb.FollowAgentsResponse) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, state := range message.States {
		if of := f.agents[state.Agent]; of != nil && state.Number >= of.asked {
			f.takeState(of, state)
		}
	}
	for _, progress := range message.Progress {
		f.progress[progress.Map] = progress
	}
	if len(f.news) > 0 {
		select {
		case f.hasNews <- struct{}{}:
		default:
		}
	}
	return true
}

func (f *Follower) takeState(of *agent, state *pb.AgentState) {
	hadProblem := of.path.Problem != nil
	of.isFollowed = true
	of.path.Version = state.Version
	of.path.HasEnded = state.GetEnd() != nil
	of.path.Problem = ProblemError(cmp.Or(state.GetProblem(), state.GetEnd()))
	switch result := state.State.(type) {
	case *pb.AgentState_Held:
		if !hadProblem {
			return
		}
	case *pb.AgentState_Answer:
		of.path.Answer, of.right = result.Answer, state.Version
	default:
		if ReasonOf(of.path.Problem) != "REVISION_NOT_YET" {
			of.right = nil
		}
	}
	f.news[state.Agent] = of.path
	if problem, ok := of.path.Problem.(*Error); ok && of.path.HasEnded {
		f.putAgain(state.Agent, of, problem)
	}
}

// Puts an agent that has ended again, if that may help.
func (f *Follower) putAgain(id uint64, ended *agent, problem *Error) {
	if problem.Reason == "MAP_REPLACED" {
		f.put(id)
	} else if !slices.Contains(permanent, problem.Code) {
		time.AfterFunc(putAgainDelay, func() {
			f.with(id, func(known *agent) {
				if known == ended && known.hasEnded() {
					f.put(id)
				}
			})
		})
	}
}
