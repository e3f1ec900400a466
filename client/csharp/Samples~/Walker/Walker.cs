// Walks to random cells of a map, round what blocks its way. Put it on any object of a scene.
using UnityEngine;
using Waystar;
using Waystar.V1;

public sealed class Walker : MonoBehaviour {
  public string address = "http://localhost:8080";
  public string map = "ten-by-ten";
  public int width = 10, height = 10;
  public float speed = 3;
  Client client;
  AgentFollower agents;
  Cell cell = new Cell();

  void Start() {
    client = new Client(new ClientOptions { Target = address });
    agents = client.FollowAgents();
    agents.Put(1, client.Map(map).Query(cell, (7, 7)));
  }

  void Update() {
    // Cells grow downwards on the map, and here away from the camera.
    var place = new Vector3(cell.X, 0, -cell.Y);
    transform.position = Vector3.MoveTowards(transform.position, place, speed * Time.deltaTime);
    var state = agents.Find(1);
    if (transform.position == place && (state.Answer != null || state.Problem != null)) {
      // The path begins where the agent was when it asked. If the agent is not on it, another path comes.
      var path = state.Problem == null && state.Answer.Outcome == Outcome.Found ? state.Answer.Path.Points : null;
      var next = path == null ? 0 : path.FindIndex(each => each.X == cell.X && each.Y == cell.Y) + 1;
      if (path == null || next == path.Count) {
        agents.SendTo(1, (Random.Range(0, width), Random.Range(0, height)));
      } else if (next > 0) {
        agents.MoveTo(1, cell = path[next]);
      }
    }
    agents.Flush();
  }

  void OnDestroy() => client.Dispose();
}
