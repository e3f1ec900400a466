using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using UnityEditor;
using UnityEngine;
using UnityEngine.AI;
using UnityEngine.SceneManagement;
using UnityEngine.Tilemaps;

namespace Waystar {
  using V1;

  /// <summary>Menu items that export the open scene: its tilemaps as a grid, and its NavMesh as a mesh.</summary>
  public static class WaystarExport {
    // A message may have 4 MiB, and base64 adds a third to these.
    const int ChunkBytes = 1 << 20;
    // The number of areas in Unity.
    const int AreaCount = 32;

    [MenuItem("Waystar/Save Tilemaps...")]
    static void SaveTilemaps() => Save("txt", TilemapText, "");

    [MenuItem("Waystar/Save NavMesh...")]
    static void SaveNavMesh() => Save("json", NavMeshText, " --mesh-agent-radius " + Number(AgentRadius));

    /// <summary>The radius of the first kind of agent, by which the server widens obstacles.</summary>
    public static float AgentRadius => NavMesh.GetSettingsByIndex(0).agentRadius;

    /// <summary>
    /// Returns the active tilemaps of the active scene as text. A cell is ground where there is a tile, unless a
    /// tile with a collider, in a tilemap with a TilemapCollider2D, is there.
    /// </summary>
    public static string TilemapText() {
      var tilemaps = SceneManager.GetActiveScene().GetRootGameObjects()
        .SelectMany(root => root.GetComponentsInChildren<Tilemap>()).ToList();
      var isGround = new Dictionary<(int X, int Y), bool>();
      foreach (var tilemap in tilemaps) {
        CheckCells(tilemap, tilemaps[0]);
        var blocks = tilemap.GetComponent<TilemapCollider2D>() != null;
        foreach (var cell in tilemap.cellBounds.allPositionsWithin) {
          if (tilemap.HasTile(cell)) {
            var isBlocked = blocks && tilemap.GetColliderType(cell) != Tile.ColliderType.None;
            isGround[(cell.x, cell.y)] = !isBlocked &&
              (!isGround.TryGetValue((cell.x, cell.y), out var wasGround) || wasGround);
          }
        }
      }
      if (isGround.Count == 0) {
        throw new InvalidOperationException("the scene has no tiles");
      }
      int left = isGround.Keys.Min(cell => cell.X), right = isGround.Keys.Max(cell => cell.X);
      int bottom = isGround.Keys.Min(cell => cell.Y), top = isGround.Keys.Max(cell => cell.Y);
      var corner = tilemaps[0].CellToWorld(new Vector3Int(left, bottom, 0));
      var side = CellSides(tilemaps[0]).Right.x;
      // Rows go up, as y does in Unity, so that positions are the same on the server.
      var text = new StringBuilder($"origin {Number(corner.x)} {Number(corner.y)}\ncell_size {Number(side)}\nmap\n");
      for (var y = bottom; y <= top; ++y) {
        for (var x = left; x <= right; ++x) {
          text.Append(isGround.TryGetValue((x, y), out var isFree) && isFree ? '.' : '#');
        }
        text.Append('\n');
      }
      return text.ToString();
    }

    /// <summary>
    /// Returns the NavMesh of all loaded scenes as JSON, with its areas and their names and costs.
    /// </summary>
    public static string NavMeshText() {
      var mesh = NavMesh.CalculateTriangulation();
      if (mesh.indices.Length == 0) {
        throw new InvalidOperationException("there is no NavMesh: bake it first");
      }
      var triangulation =
        new Triangulation { vertices = mesh.vertices, indices = mesh.indices, areas = mesh.areas };
      foreach (var name in GameObjectUtility.GetNavMeshAreaNames()) {
        triangulation.areaNames[NavMesh.GetAreaFromName(name)] = name;
      }
      for (var area = 0; area < AreaCount; ++area) {
        triangulation.areaCosts[area] = NavMesh.GetAreaCost(area);
      }
      return JsonUtility.ToJson(triangulation);
    }

    /// <summary>Creates a map from a file's text, or replaces it.</summary>
    public static async Task<ImportMapResponse> SendAsync(Client client, string map, string text,
        float agentRadius = 0) {
      var bytes = Encoding.UTF8.GetBytes(text);
      var header = new ImportMapHeader { Map = map, Size = bytes.Length, Replace = true };
      if (agentRadius > 0) {
        header.ImportOptions = new ImportOptions { AgentRadius = agentRadius };
      }
      using (var import = await client.OpenAsync(MapService.ImportMap, new ImportMapRequest { Header = header })) {
        var isOpen = true;
        for (var start = 0; isOpen && start < bytes.Length; start += ChunkBytes) {
          var chunk = new byte[Math.Min(ChunkBytes, bytes.Length - start)];
          Array.Copy(bytes, start, chunk, 0, chunk.Length);
          isOpen = await import.SendAsync(new ImportMapRequest { Chunk = chunk });
        }
        await import.EndSendingAsync();
        return await import.ReceiveAsync();
      }
    }

    static void Save(string ending, Func<string> makeText, string options) {
      var path = EditorUtility.SaveFilePanel("Save for Waystar", "", SceneManager.GetActiveScene().name, ending);
      if (path.Length > 0) {
        File.WriteAllText(path, makeText());
        Debug.Log($"waystar map import \"{path}\"{options}");
      }
    }

    // Returns the steps from a cell to its neighbours to the right and above.
    static (Vector3 Right, Vector3 Up) CellSides(Tilemap tilemap) {
      var corner = tilemap.CellToWorld(new Vector3Int(0, 0, 0));
      return (tilemap.CellToWorld(new Vector3Int(1, 0, 0)) - corner,
        tilemap.CellToWorld(new Vector3Int(0, 1, 0)) - corner);
    }

    static void CheckCells(Tilemap tilemap, Tilemap first) {
      var (right, up) = CellSides(tilemap);
      if (right.x <= 0 || right != new Vector3(right.x, 0, 0) || up != new Vector3(0, right.x, 0)) {
        throw new InvalidOperationException($"{tilemap.name}: only upright square cells can be exported");
      }
      var zero = new Vector3Int(0, 0, 0);
      if (right != CellSides(first).Right || tilemap.CellToWorld(zero) != first.CellToWorld(zero)) {
        throw new InvalidOperationException($"{tilemap.name}: its cells are not those of {first.name}");
      }
    }

    static string Number(float number) => number.ToString("R", CultureInfo.InvariantCulture);

    [Serializable]
    sealed class Triangulation {
      public Vector3[] vertices;
      public int[] indices;
      public int[] areas;
      public string[] areaNames = new string[AreaCount];
      public float[] areaCosts = new float[AreaCount];
    }
  }

  /// <summary>Sends the open scene to a server.</summary>
  public sealed class WaystarSendWindow : EditorWindow {
    string address = "http://localhost:8080";
    string token = "";
    string map = "";

    [MenuItem("Waystar/Send to Server...")]
    static void Open() => GetWindow<WaystarSendWindow>("Waystar").map = SceneManager.GetActiveScene().name;

    void OnGUI() {
      address = EditorGUILayout.TextField("Address", address);
      token = EditorGUILayout.PasswordField("Token", token);
      map = EditorGUILayout.TextField("Map", map);
      if (GUILayout.Button("Send Tilemaps")) {
        Send(WaystarExport.TilemapText(), 0);
      }
      if (GUILayout.Button("Send NavMesh")) {
        Send(WaystarExport.NavMeshText(), WaystarExport.AgentRadius);
      }
    }

    async void Send(string text, float agentRadius) {
      // UnityTransport waits for the frames of a running game.
      var options = new ClientOptions { Target = address, Token = token, Transport = new HttpTransport() };
      using (var client = new Client(options)) {
        try {
          var answer = await WaystarExport.SendAsync(client, map, text, agentRadius);
          Debug.Log($"{answer.Info.Map} is on the server.");
          foreach (var note in answer.Notes) {
            Debug.LogWarning(note.Text);
          }
        } catch (WaystarError error) {
          Debug.LogError($"{map}: {error.Message}");
        }
      }
    }
  }
}
