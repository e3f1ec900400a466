// Lets an agent walk across the map "tiles" of a server, on another path when a change blocks its own.
//
//	walker [SERVER]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	waystar "waystar.dev/client"
)

func main() {
	server := append(os.Args[1:], "localhost:7450")[0]
	client, err := waystar.New(server, waystar.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	agents := client.FollowAgents(context.Background(), nil)
	agents.Put(7, client.Map("tiles").Query(waystar.Cell(0, 9), waystar.Cell(15, 9)))
	x, y := int32(0), int32(9)
	for (x != 15 || y != 9) && agents.Flush() == nil {
		time.Sleep(200 * time.Millisecond)
		state, _ := agents.Find(7)
		points := state.Answer.GetPath().GetPoints()
		for i, point := range points[:max(len(points)-1, 0)] {
			if state.Problem == nil && point.X == x && point.Y == y {
				x, y = points[i+1].X, points[i+1].Y
				agents.MoveTo(7, waystar.Cell(x, y))
				fmt.Println(x, y)
				break
			}
		}
	}
}
