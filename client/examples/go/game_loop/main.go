// A game of 20 ticks a second: 200 agents walk about a city where 12 carts drive. It goes on after a restart of the
// server.
//
//	game_loop [SERVER [TICKS [SIZE]]]     the city has SIZE x SIZE cells: a multiple of 32, 256 if unset
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

const tickTime = 50 * time.Millisecond

type agent struct{ here, goal *pb.Location }

// The place is not in the row of a wall.
func randomPlace(size int32) *pb.Location {
	return waystar.Cell(rand.N(size), 32*rand.N(size/32)+rand.N[int32](16))
}

// Carts cover 2 x 2 cells and drive up and down.
func drive(carts []*pb.Cell, drives int, size int32) (edits []*pb.Edit) {
	for i := range carts {
		y := int32(drives+40*i)%(2*size-4) - (size - 2)
		carts[i] = &pb.Cell{X: int32(16*i)%size + 1, Y: max(y, -y)}
		edits = append(edits, waystar.PutObstacle(fmt.Sprint("cart-", i), waystar.Rect(carts[i].X, carts[i].Y, 2, 2)))
	}
	return edits
}

func isBlocked(cell *pb.Cell, carts []*pb.Cell) bool {
	return slices.ContainsFunc(carts, func(cart *pb.Cell) bool {
		return (cell.X-cart.X)>>1 == 0 && (cell.Y-cart.Y)>>1 == 0
	})
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	server, ticks, size := "localhost:7450", 200, int32(256)
	fmt.Sscan(strings.Join(os.Args[1:], " "), &server, &ticks, &size)
	rows := slices.Repeat([]string{strings.Repeat(".", int(size))}, int(size))
	for y := 16; y < len(rows); y += 32 {
		// The gates of a wall are wide enough for a cart and agents beside it.
		rows[y] = strings.Repeat("....############", len(rows)/16)
	}
	// Calls wait while there is no server.
	client, err := waystar.New(server, waystar.Options{Timeout: time.Minute,
		DialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.WaitForReady(true))}})
	must(err)
	defer client.Close()
	ctx, city := context.Background(), client.Map("go-city")
	_, err = client.Maps.CreateMap(ctx, &pb.CreateMapRequest{Map: city.ID, Rows: rows})
	must(err)
	defer client.Maps.DeleteMap(ctx, &pb.DeleteMapRequest{Map: city.ID})

	agents, carts := make([]agent, 200), make([]*pb.Cell, 12)
	follower := client.FollowAgents(ctx, nil)
	for id := range agents {
		agents[id] = agent{randomPlace(size), randomPlace(size)}
		follower.Put(uint64(id), city.Query(agents[id].here, agents[id].goal))
	}
	var updating sync.Mutex
	var late, lost, paths, steps, drives int
	clock := time.Tick(tickTime)
	for tick := 1; tick <= ticks; tick++ {
		<-clock
		start := time.Now()
		// The carts wait for the answer to the update before.
		if updating.TryLock() {
			drives++
			edits := drive(carts, drives, size)
			go func() {
				defer updating.Unlock()
				if _, err := city.Update(ctx, edits...); err != nil {
					lost++
				}
			}()
		}
		paths += len(follower.TakeNews())
		for i := range agents {
			a, id := &agents[i], uint64(i)
			state, _ := follower.Find(id)
			// The game knows where carts are before the server sends a path round them. Until then the agent waits.
			if ahead := state.Ahead(a.here); len(ahead) > 0 && !isBlocked(ahead[0], carts) {
				a.here = waystar.Cell(ahead[0].X, ahead[0].Y)
				follower.MoveTo(id, a.here)
				steps++
			}
			if proto.Equal(a.here, a.goal) {
				a.goal = randomPlace(size)
				follower.SendTo(id, a.goal)
			}
		}
		must(follower.Flush())
		if time.Since(start) > tickTime {
			late++
		}
		if tick%20 == 0 {
			fmt.Printf("tick %d: %d steps, %d paths\n", tick, steps, paths)
		}
	}
	updating.Lock()
	fmt.Printf("%d ticks, %d late, %d calls lost, %d paths received\n", ticks, late, lost, paths)
}
